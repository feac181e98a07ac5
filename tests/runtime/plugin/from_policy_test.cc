#include "plugin/from_policy.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "plugin/choice.h"
#include "policy/reader.h"
#include "runtime/plugin/scratch.h"

using namespace purlin;
namespace fs = std::filesystem;

namespace {

plugin::Selection selection_of(const std::string& text, const std::string& file) {
  const auto policy = policy::read_policy(text, file, PURLIN_DEVICE_HOST);
  REQUIRE_MESSAGE(policy, policy.status().message());
  return plugin::selection_from(policy.value());
}

}  // namespace

TEST_CASE("a policy's words arrive with the line that they stand on") {
  const auto selection = selection_of(
      "version: 1\n"
      "plugins:\n"
      "  path: [near, /far]\n"
      "  enable: ['h*']\n"
      "  disable: ['*old*']\n"
      "datapath:\n"
      "  prefer:\n"
      "    - hopper\n"
      "    - ./mine.so\n"
      "    - auto\n"
      "  deny: [nvls]\n",
      "/etc/purlin/h200.yaml");
  REQUIRE(selection.folders.size() == 2);
  CHECK(selection.folders[0].text == "/etc/purlin/near");
  CHECK(selection.folders[0].where == "/etc/purlin/h200.yaml:3:10");
  CHECK(selection.folders[1].text == "/far");
  REQUIRE(selection.enable.size() == 1);
  CHECK(selection.enable[0].text == "h*");
  REQUIRE(selection.disable.size() == 1);
  CHECK(selection.disable[0].where == "/etc/purlin/h200.yaml:5:13");
  REQUIRE(selection.prefer.size() == 3);
  CHECK(selection.prefer[0].text == "hopper");
  CHECK(selection.prefer[1].text == "/etc/purlin/mine.so");
  CHECK(selection.prefer[1].where == "/etc/purlin/h200.yaml:9:7");
  REQUIRE(selection.deny.size() == 1);
  CHECK(selection.deny[0].text == "nvls");
}

TEST_CASE("a policy given as text starts its relative paths at the working folder") {
  const auto selection = selection_of("version: 1\nplugins: {path: [near]}\n", "<text>");
  REQUIRE(selection.folders.size() == 1);
  CHECK(selection.folders[0].text == fs::current_path() / "near");
}

TEST_CASE("what a policy leaves out chooses automatically") {
  test::Scratch scratch;
  scratch.add("sound");
  plugin::Selection selection = selection_of("version: 1\n", "/etc/purlin/empty.yaml");
  selection.default_folders = {scratch.path()};
  const auto bound =
      plugin::choose(plugin::discover(selection, plugin::host_device_facts()), plugin::Need{});
  REQUIRE_MESSAGE(bound, bound.status().message());
  CHECK(std::string(bound->descriptor->name) == "sound");
}
