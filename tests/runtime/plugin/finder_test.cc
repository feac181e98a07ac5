#include "plugin/finder.h"

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

std::vector<std::string> accepted(const std::vector<FoundFolder>& folders) {
  std::vector<std::string> paths;
  for (const FoundFolder& folder : folders) {
    if (folder.verdict.accepted) paths.push_back(folder.asked.filename().string());
  }
  return paths;
}

std::string rule_at(const std::vector<FoundFolder>& folders, const fs::path& asked) {
  const auto found = std::find_if(folders.begin(), folders.end(),
                                  [&](const FoundFolder& folder) { return folder.asked == asked; });
  return found == folders.end() ? "absent" : found->verdict.rule;
}

}  // namespace

TEST_CASE("folders are searched in the written order, each once") {
  test::Scratch scratch;
  const std::string a = scratch.folder("a").string();
  const std::string b = scratch.folder("b").string();
  const std::string c = scratch.folder("c").string();
  const test::ScopedVariable variable("PURLIN_PLUGIN_PATH",
                                      c + "::" + a + ":" + scratch.path().string() + "/./b");
  Selection selection;
  selection.folders = {{"b", "policy.yaml:4:5"}};
  selection.base = scratch.path();
  const auto folders = find_folders(selection);
  REQUIRE(folders.size() == 6);
  CHECK(folders[0].origin == FolderOrigin::kPolicy);
  CHECK(folders[0].where == "policy.yaml:4:5");
  CHECK(folders[0].asked == b);
  CHECK(folders[1].asked == c);
  CHECK(folders[2].asked == a);
  CHECK(folders[3].verdict.rule == "folder-duplicate");
  CHECK(folders[4].origin == FolderOrigin::kBeside);
  CHECK(folders[5].origin == FolderOrigin::kInstall);
}

TEST_CASE("the folder beside the library is that of the build tree here") {
  const auto folders = find_folders(Selection{});
  const auto beside = std::find_if(folders.begin(), folders.end(), [](const FoundFolder& folder) {
    return folder.origin == FolderOrigin::kBeside;
  });
  REQUIRE(beside != folders.end());
  CHECK(beside->asked == fs::canonical(PURLIN_BINARY_DIR) / "lib" / "purlin" / "plugins");
}

TEST_CASE("the name of each fault in a search path") {
  test::Scratch scratch;
  scratch.add("sound", "file");
  const fs::path open = scratch.folder("open");
  fs::permissions(open, fs::perms::others_write | fs::perms::sticky_bit, fs::perm_options::add);
  Selection selection = scratch.selection();
  selection.base = scratch.path();
  selection.folders = {{"absent", ""}, {"file", ""}, {"open", ""}};
  const auto folders = find_folders(selection);
  CHECK(rule_at(folders, scratch / "absent") == "folder-missing");
  CHECK(rule_at(folders, scratch / "file") == "folder-not-a-folder");
  CHECK(rule_at(folders, open) == "world-writable");
  CHECK(rule_at(folders, scratch.path()) == "folder-searched");
}

TEST_CASE("entries are sorted by name") {
  test::Scratch scratch;
  for (const char* name : {"b.so", "a.so", "C.so", "a-b.so"}) scratch.write(name, {});
  const auto folders = find_folders(scratch.selection());
  REQUIRE(folders.size() == 1);
  std::vector<std::string> names;
  for (const fs::path& entry : folders[0].entries) names.push_back(entry.filename().string());
  CHECK(names == std::vector<std::string>{"C.so", "a-b.so", "a.so", "b.so"});
}

TEST_CASE("a privileged process ignores what its user can choose") {
  test::Scratch scratch;
  const fs::path mine = scratch.folder("mine");
  const test::ScopedVariable variable("PURLIN_PLUGIN_PATH", mine.string());
  Selection selection;
  selection.folders = {{scratch.folder("policy").string(), ""}};
  CHECK(accepted(find_folders(selection)).size() >= 2);
  selection.secure = true;
  const auto folders = find_folders(selection);
  CHECK(rule_at(folders, mine) == "privileged");
  CHECK(rule_at(folders, scratch / "policy") == "privileged");
}

TEST_CASE("relative paths start at the base, and only dots of no meaning go") {
  CHECK(absolute_from("/a/b", "./x") == "/a/b/x");
  CHECK(absolute_from("/a/b", "../x") == "/a/b/../x");
  CHECK(absolute_from("/a/b", "/x") == "/x");
  CHECK(absolute_from({}, "x") == fs::current_path() / "x");
}
