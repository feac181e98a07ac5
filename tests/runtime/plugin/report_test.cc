#include "plugin/report.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "runtime/plugin/scratch.h"

using namespace purlin;
using namespace purlin::plugin;

TEST_CASE("the report holds every folder, file and verdict, and the choice") {
  test::Scratch scratch;
  scratch.add("sound");
  scratch.add("unresolved");
  scratch.write("notes.txt", {});
  scratch.write(
      "bad\xff"
      "name.so",
      {});
  const auto json = catalogue_json(discover(scratch.selection(), host_device_facts()));
  CHECK(json["device"]["kind"] == "host");
  REQUIRE(json["folders"].size() == 1);
  CHECK(json["folders"][0]["path"] == scratch.path().string());
  CHECK(json["folders"][0]["files"].size() == 4);
  CHECK(json["chosen"]["name"] == "sound");
  CHECK(json["chosen"]["rule"] == "only-one");
  CHECK(json["choice_error"].is_null());
  CHECK(json["candidates"][0]["atom"]["abi"] == "1.0");
  CHECK(json["candidates"][0]["atom"]["op_mask"][PURLIN_BF16] == 0x1f);
  CHECK(json["candidates"][0]["atom"]["images"].empty());
  std::set<std::string> known;
  for (const Rule& rule : rules()) known.emplace(rule.id);
  for (const auto& file : json["folders"][0]["files"]) {
    CHECK(known.contains(file["verdict"]["rule"]));
  }
  CHECK_FALSE(json.dump().empty());
}

TEST_CASE("with nothing to choose the report says so and is no error") {
  test::Scratch scratch;
  const auto json = catalogue_json(discover(scratch.selection(), host_device_facts()));
  CHECK(json["chosen"].is_null());
  CHECK(json["choice_error"].get<std::string>().find(scratch.path().string()) !=
        std::string::npos);
}

TEST_CASE("docs/plugins.md lists every rule") {
  std::ifstream in(PURLIN_SOURCE_DIR "/docs/plugins.md");
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::set<std::string_view> seen;
  for (const Rule& rule : rules()) {
    CHECK_MESSAGE(seen.insert(rule.id).second, rule.id);
    CHECK_MESSAGE(text.find("`" + std::string(rule.id) + "`") != std::string::npos, rule.id);
  }
}
