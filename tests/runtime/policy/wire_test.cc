#include "policy/wire.h"

#include "reading.h"

namespace purlin::policy {
namespace {

using testing::holds;
using testing::must_read;

std::string difference(const std::string& a, const std::string& b, int nranks = 4) {
  const Status status =
      compare(wire_fingerprint(must_read(a), nranks), 0, wire_fingerprint(must_read(b), nranks), 3);
  if (status.is_ok()) return "";
  CHECK(status.code() == PURLIN_MISMATCH);
  return status.message();
}

TEST_CASE("a difference names the setting, both values, both ranks and both origins") {
  CHECK(difference("crossover: 8KiB\n", "name: b\ncrossover: 2KiB\n") ==
        "crossover of all_gather differs between ranks: rank 0 has 8KiB (p.yaml:2:12), rank 3 has "
        "2KiB (p.yaml:3:12); give all ranks the same policy");
}

TEST_CASE("everything that the wire depends on is compared") {
  struct Case {
    const char* body;
    const char* part;
  };
  const Case cases[] = {
      {"staging: {latency_bytes: 1MiB}\n", "staging.latency_bytes"},
      {"staging: {throughput_bytes: 8MiB}\n", "staging.throughput_bytes"},
      {"staging: {pair_slots: 8}\n", "staging.pair_slots"},
      {"staging: {pair_bytes: 128KiB}\n", "staging.pair_bytes"},
      {"packets: 32\n", "packets differs"},
      {"checking: off\n", "checking differs"},
      {"one_shot_limit: 512\n", "one_shot_limit differs"},
      {"crossover: {rows: [{collectives: [all_to_all_v], value: 2KiB}]}\n",
       "crossover of all_to_all_v"},
      {"tuning: {default: {chunk: 2KiB}}\n", "chunk of all_gather"},
      {"tuning: {rows: [{collectives: [gather], bytes: 1MiB.., chunk: 2KiB}]}\n",
       "chunk of gather differs between ranks: rank 0 has 64KiB (built-in default), rank 3 has "
       "64KiB "
       "up to 1MiB, then 2KiB (built-in default, p.yaml:2:63)"},
      {"tuning: {default: {direction: push}}\n", "direction of all_gather"},
      {"tuning: {default: {ctas: {stage: 2}}}\n", "ctas.stage of"},
      {"tuning: {default: {ctas: {reduce: 2}}}\n", "ctas.reduce of"},
      {"tuning: {default: {ctas: {gather: 2}}}\n", "ctas.gather of"},
      {"tuning: {default: {zero_copy: off}}\n", "zero_copy of"},
      {"tuning: {default: {path: throughput}}\n", "path of"},
      {"reduction: nvls\n", "path of reduce_scatter"},
  };
  for (const Case& entry : cases) {
    const std::string error = difference("", entry.body);
    INFO(std::string(entry.body), error);
    CHECK(holds(error, entry.part));
  }
}

TEST_CASE("what the wire does not depend on may differ") {
  for (const char* body :
       {"name: other\n", "datapath: {prefer: [host]}\n", "plugins: {path: [/x]}\n",
        "timeouts: {wait: 1s}\n", "programs: []\n", "host: {spins: 1}\n", "cta_budget: 4\n",
        "tuning: {default: {stages: 4, stage_bytes: 4KiB, threads: 128}}\n",
        "crossover: 1KiB\n",  // the default, written out
        "tuning: {rows: [{ranks: 8, chunk: 2KiB}]}\n"}) {
    INFO(std::string(body));
    CHECK(difference("", body) == "");
  }
}

TEST_CASE("a fingerprint survives the journey") {
  Policy policy = must_read("crossover: 8KiB\n");
  const WireFingerprint sent = wire_fingerprint(policy, 4);
  const auto received = deserialise(serialise(sent));
  REQUIRE(received.is_ok());
  CHECK(compare(sent, 0, *received, 1).is_ok());
  CHECK(serialise(*received) == serialise(sent));
  CHECK(serialise(sent).find('\0') == std::string::npos);
}

TEST_CASE("a file name that is not UTF-8 does not stop the journey") {
  const auto policy = read_policy("version: 1\ncrossover: 8KiB\n", "\xff.yaml", PURLIN_DEVICE_HOST);
  REQUIRE(policy.is_ok());
  CHECK(deserialise(serialise(wire_fingerprint(*policy, 2))).is_ok());
}

TEST_CASE("what is no fingerprint is refused") {
  for (const char* text : {"", "{}", "[1]", "[[\"a\",\"b\"]]", "[[1,2,3]]", "[[", "\xff"}) {
    INFO(std::string(text));
    CHECK(deserialise(text).status().code() == PURLIN_MISMATCH);
  }
}

TEST_CASE("lists of different versions are told apart") {
  WireFingerprint mine = wire_fingerprint(must_read(""), 2), theirs = mine;
  theirs[2].name = "staging.other";
  CHECK(holds(compare(mine, 0, theirs, 1).message(), "rank 1 has staging.other"));
  theirs = mine;
  theirs.pop_back();
  CHECK(holds(compare(mine, 0, theirs, 1).message(), "rank 1 has nothing"));
  CHECK(holds(compare(theirs, 1, mine, 0).message(), "rank 1 has nothing"));
}

}  // namespace
}  // namespace purlin::policy
