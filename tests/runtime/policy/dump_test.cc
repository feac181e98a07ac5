#include "policy/dump.h"

#include "policy/match.h"
#include "reading.h"

namespace purlin::policy {
namespace {

using testing::must_read;
using Json = nlohmann::ordered_json;

TEST_CASE("each value stands beside its origin") {
  const Json json = to_json(must_read(
      "crossover: 8KiB\n"
      "match: {kind: host}\n"
      "datapath: {prefer: [host]}\n"
      "tuning: {rows: [{collectives: [all_reduce], ranks: 2..4, bytes: 1MiB.., chunk: 2KiB}]}\n"
      "programs: [{kind: reduce, dtypes: [f32], ranks: 2}, {kind: copy}]\n"));
  CHECK(json.at("crossover").at("default").at("value") == 8192);
  CHECK(json.at("crossover").at("default").at("origin") ==
        Json({{"source", "file"}, {"file", "p.yaml"}, {"line", 2}, {"column", 12}}));
  CHECK(json.at("checking").at("origin").is_object());
  CHECK(json.at("checking").at("origin").at("source") == "built-in");
  CHECK(json.at("match").at("kind").at("value") == "host");
  CHECK(json.at("datapath").at("prefer").at(0).at("value") == "host");
  const Json& row = json.at("tuning").at("rows").at(0);
  CHECK(row.at("collectives") == Json::array({"all_reduce"}));
  CHECK(row.at("ranks") == "2..4");
  CHECK(row.at("bytes") == "1MiB..");
  CHECK(row.at("settings").at("chunk").at("value") == 2048);
  CHECK(row.at("origin").at("line") == 5);
  CHECK(json.at("tuning").at("default").at("stages").at("value") == "auto");
  CHECK(json.at("one_shot_limit").at("rows").at(0).at("value") == 256 * 1024);
  CHECK(json.at("one_shot_limit").at("rows").at(0).at("ranks") == "1..2");
  CHECK(json.at("timeouts").at("wait").at("value") == "10min");
  CHECK(json.at("cta_budget").at("value") == "auto");
  CHECK(json.at("programs").at(0).at("dtype") == "f32");
  CHECK(json.at("programs").at(0).at("ranks") == "2");
  CHECK_FALSE(json.at("programs").at(1).contains("dtype"));
}

TEST_CASE("a choice shows every setting, and notes as a list") {
  Query query;
  query.bytes = 1;
  const Policy policy = must_read("reduction: nvls\n");
  const Json json = to_json(*choose(policy, query));
  CHECK(json.at("path").at("value") == "latency");
  CHECK(json.at("reduction").at("value") == "score");
  CHECK(json.at("one_shot").at("value") == true);
  CHECK(json.at("ctas").at("reduce").at("value") == 1);
  REQUIRE(json.at("notes").size() == 1);
  CHECK(json.at("notes").at(0).get<std::string>().find("NVLS was asked for by p.yaml:2:12") == 0);
}

TEST_CASE("a trace is a list of places with verdicts") {
  Request request;
  request.folders = std::vector<std::string>{"/nowhere"};
  request.environment = [](const char*) { return std::nullopt; };
  const auto found = find_policy(*device_facts_of("host"), request);
  REQUIRE(found.is_ok());
  const Json json = to_json(found->trace);
  CHECK(json.at(0).at("verdict") == "absent");
  CHECK(json.at(0).at("path") == "/nowhere");
  CHECK(json.at(1).at("verdict") == "chosen");
}

}  // namespace
}  // namespace purlin::policy
