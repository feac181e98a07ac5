#include "plugin/choice.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/plugin/scratch.h"

using namespace purlin;
using namespace purlin::plugin;
namespace fs = std::filesystem;

namespace {

using Names = std::vector<std::string>;

Result<BoundAtom> choose_host(const Selection& selection, const Need& need = {}) {
  return choose(discover(selection, host_device_facts()), need);
}

std::string chosen(const Selection& selection, const Need& need = {}) {
  const Result<BoundAtom> bound = choose_host(selection, need);
  return bound ? bound->descriptor->name : bound.status().message();
}

Selection preferring(const test::Scratch& scratch, const Names& words) {
  Selection selection = scratch.selection();
  selection.base = scratch.path();
  for (const std::string& word : words) selection.prefer.push_back({word, "policy.yaml:7:9"});
  return selection;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the order among those that fit is total, and losers know the rule") {
  test::Scratch scratch;
  scratch.add("sound", "b/libatom-sound.so");
  scratch.add("sound", "a/libatom-sound.so");
  scratch.add("sound-newer", "b/libatom-sound-newer.so");
  scratch.add("eager", "b/libatom-eager.so");
  Selection selection;
  selection.default_folders = {scratch / "a", scratch / "b"};
  const Catalogue catalogue = discover(selection, host_device_facts());
  REQUIRE(catalogue.candidates.size() == 4);
  CHECK(test::fitting(catalogue) == Names{"eager", "sound", "sound", "sound"});
  CHECK(catalogue.candidates[1].plugin->path == scratch / "b/libatom-sound-newer.so");
  CHECK(catalogue.candidates[2].plugin->path == scratch / "a/libatom-sound.so");
  CHECK(catalogue.candidates[0].beaten_by.empty());
  for (std::size_t i = 1; i < 4; ++i) CHECK(catalogue.candidates[i].beaten_by == "higher-priority");
  CHECK(has(catalogue.candidates[1].beaten_reason, "5"));

  selection.disable = {{"eager", ""}};
  const Catalogue without = discover(selection, host_device_facts());
  CHECK(without.candidates[1].beaten_by == "newer-version");
  selection.disable = {{"*newer*", ""}, {"eager", ""}};
  const Catalogue same = discover(selection, host_device_facts());
  REQUIRE(same.candidates.size() == 2);
  CHECK(same.candidates[1].beaten_by == "earlier-path");

  selection = Selection{};
  selection.default_folders = {scratch / "b"};
  selection.prefer = {{"sound", ""}, {"auto", ""}};
  const Catalogue named = discover(selection, host_device_facts());
  CHECK(test::fitting(named) == Names{"sound", "sound", "eager"});
  CHECK(named.candidates[2].beaten_by == "named-by-policy");
}

TEST_CASE("the closer architecture goes first on each device") {
  test::Scratch scratch;
  for (const char* file : {"sm75", "sm90", "sm100a", "sound"}) scratch.add(file);
  const auto on = [&](unsigned major, unsigned minor) {
    return test::fitting(discover(scratch.selection(), test::cuda_facts(major, minor)));
  };
  CHECK(on(7, 0) == Names{});
  CHECK(on(7, 5) == Names{"old"});
  CHECK(on(8, 9) == Names{"old"});
  CHECK(on(9, 0) == Names{"middle", "old"});
  CHECK(on(10, 0) == Names{"new", "middle", "old"});
  CHECK(on(10, 3) == Names{"middle", "old"});
  const Catalogue old = discover(scratch.selection(), test::cuda_facts(8, 0));
  for (const Candidate& candidate : old.candidates) {
    const std::string name = candidate.plugin->descriptor->name;
    const std::string rule = candidate.fit.rule;
    if (name == "sound") CHECK(rule == "wrong-kind");
    if (name == "middle" || name == "new") CHECK(rule == "device-too-old");
  }
  const Catalogue newest = discover(scratch.selection(), test::cuda_facts(12, 0));
  for (const Candidate& candidate : newest.candidates) {
    if (std::string("new") == candidate.plugin->descriptor->name)
      CHECK(candidate.fit.rule == "no-image");
  }
}

TEST_CASE("an automatic choice falls back and remembers why") {
  test::Scratch scratch;
  scratch.add("copier");
  scratch.add("sound");
  scratch.add("probe-throws");
  scratch.add("probe-refuses");
  scratch.add("probe-endless");
  scratch.add("unresolved");
  Need need;
  CHECK(chosen(scratch.selection(), need) == "copier");
  need.capabilities |= PURLIN_CAP_REDUCE;
  const Result<BoundAtom> bound = choose_host(scratch.selection(), need);
  REQUIRE(bound);
  CHECK(std::string(bound->descriptor->name) == "sound");
  CHECK(bound->rule == "only-one");
  std::vector<std::string> rules;
  for (const Passed& passed : bound->passed) rules.push_back(passed.verdict.rule);
  for (const char* rule : {"load-failed", "lacks-capability", "probe-threw", "probe-refused"}) {
    CHECK_MESSAGE(std::count(rules.begin(), rules.end(), rule) >= 1, rule);
  }
}

TEST_CASE("the need is held against what the Atom declares") {
  test::Scratch scratch;
  scratch.add("few-sources");
  scratch.add("sound");
  Need need;
  need.dtype = PURLIN_BF16;
  need.op = PURLIN_PREMUL_SUM;
  need.sources = 4;
  CHECK(chosen(scratch.selection(), need) == "few");
  need.sources = 5;
  CHECK(chosen(scratch.selection(), need) == "sound");
  need.op = PURLIN_OP_COUNT;
  const Result<BoundAtom> none = choose_host(scratch.selection(), need);
  REQUIRE_FALSE(none);
  CHECK(none.status().code() == PURLIN_PLUGIN_ERROR);
  CHECK(has(none.status().message(), "lacks-reduction"));
}

TEST_CASE("a named plugin is found in every form of its name") {
  test::Scratch scratch;
  scratch.add("eager");
  scratch.add("sound");
  scratch.add("copier", "other place/libatom-copier.so");
  fs::create_symlink("libatom-sound.so", scratch / "link.so");
  const std::string whole = (scratch / "libatom-sound.so").string();
  for (const std::string& word :
       {std::string("sound"), std::string("libatom-sound.so"), std::string("./libatom-sound.so"),
        std::string("../") + scratch.path().filename().string() + "/libatom-sound.so",
        std::string("./link.so"), whole}) {
    CHECK_MESSAGE(chosen(preferring(scratch, {word})) == "sound", word);
  }
  CHECK(chosen(preferring(scratch, {"other place/libatom-copier.so"})) == "copier");
}

TEST_CASE("a named plugin that cannot serve is an error that says why") {
  test::Scratch scratch;
  scratch.add("sound");
  scratch.add("unresolved", "libatom-broken.so");
  fs::create_symlink("gone.so", scratch / "dangling.so");
  scratch.folder("folder.so");
  struct Row {
    const char* word;
    const char* rule;
  };
  for (const Row& row : std::vector<Row>{{"hopper", "name-unknown"},
                                         {"broken", "load-failed"},
                                         {"libatom-broken.so", "load-failed"},
                                         {"./absent.so", "file-missing"},
                                         {"./dangling.so", "dangling-link"},
                                         {"./folder.so", "not-a-file"},
                                         {".", "name-invalid"},
                                         {"", "name-invalid"},
                                         {"Sound", "name-invalid"}}) {
    const Result<BoundAtom> bound = choose_host(preferring(scratch, {row.word}));
    REQUIRE_MESSAGE(!bound, row.word);
    CHECK(bound.status().code() == PURLIN_PLUGIN_ERROR);
    const std::string text = bound.status().message();
    CHECK_MESSAGE(has(text, std::string("[") + row.rule + "]"), row.word << ": " << text);
    CHECK_MESSAGE(has(text, "policy.yaml:7:9"), text);
    CHECK_MESSAGE(has(text, scratch.path().string()), text);
  }
  CHECK(has(chosen(preferring(scratch, {"soudn"})), "did you mean \"sound\"?"));
  CHECK(chosen(preferring(scratch, {"hopper", "auto"})) == "sound");
  CHECK(chosen(preferring(scratch, {"hopper", "sound"})) == "sound");
}

TEST_CASE("what is denied never serves") {
  test::Scratch scratch;
  scratch.add("eager");
  scratch.add("sound");
  Selection selection = scratch.selection();
  selection.deny = {{"eager", "policy.yaml:9:3"}};
  CHECK(chosen(selection) == "sound");
  selection.deny = {{"*", "policy.yaml:9:3"}};
  CHECK(has(chosen(selection), "[denied]"));
  for (const Names& words :
       {Names{"eager"}, Names{"libatom-eager.so"}, Names{"./libatom-eager.so"}}) {
    Selection named = preferring(scratch, words);
    named.deny = {{"eager", "policy.yaml:9:3"}};
    const std::string text = chosen(named);
    CHECK_MESSAGE(has(text, "[denied]"), text);
    CHECK_MESSAGE(has(text, "policy.yaml:9:3"), text);
    named.prefer.push_back({"auto", ""});
    CHECK(chosen(named) == "sound");
  }
}

TEST_CASE("a folder of nothing but faults is an error with every verdict in it") {
  test::Scratch scratch;
  const Names files = {"entry-null", "unresolved", "abi-major-newer", "name-bad"};
  for (const std::string& file : files) scratch.add(file);
  const std::string text = chosen(scratch.selection());
  for (const std::string& file : files) CHECK_MESSAGE(has(text, "libatom-" + file + ".so"), text);
  CHECK(has(text, scratch.path().string()));
}

TEST_CASE("the working folder does not matter") {
  test::Scratch scratch;
  scratch.add("sound");
  const fs::path before = fs::current_path();
  fs::current_path("/");
  CHECK(chosen(preferring(scratch, {"./libatom-sound.so"})) == "sound");
  CHECK(chosen(scratch.selection()) == "sound");
  fs::current_path(before);
}

TEST_CASE("one file by two paths is one candidate, two files of one name are two") {
  test::Scratch scratch;
  scratch.add("sound");
  fs::create_symlink("libatom-sound.so", scratch / "libatom-twin.so");
  const Catalogue one = discover(scratch.selection(), host_device_facts());
  CHECK(one.candidates.size() == 1);
  CHECK(test::rule_of(one, "libatom-twin.so") == "same-file");
  fs::remove(scratch / "libatom-twin.so");
  scratch.add("sound", "libatom-twin.so");
  const Catalogue two = discover(scratch.selection(), host_device_facts());
  REQUIRE(two.candidates.size() == 2);
  CHECK(two.candidates[1].plugin->path == scratch / "libatom-twin.so");
  CHECK(two.candidates[1].beaten_by == "earlier-path");
}
