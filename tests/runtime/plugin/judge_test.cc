#include "plugin/judge.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "level.h"
#include "runtime/plugin/scratch.h"

using namespace purlin;
using namespace purlin::plugin;
namespace fs = std::filesystem;

namespace {
std::string rule(const fs::path& path) { return judge_file(path, Selection{}).verdict.rule; }
}  // namespace

TEST_CASE("what is no regular file is said to be none") {
  test::Scratch scratch;
  scratch.folder("libatom-folder.so");
  CHECK(rule(scratch / "libatom-folder.so") == "not-a-file");
  REQUIRE(mkfifo((scratch / "libatom-pipe.so").c_str(), 0600) == 0);
  CHECK(rule(scratch / "libatom-pipe.so") == "not-a-file");
  fs::create_symlink("nowhere.so", scratch / "libatom-dangling.so");
  CHECK(rule(scratch / "libatom-dangling.so") == "dangling-link");
  CHECK(rule(scratch / "libatom-absent.so") == "file-missing");
  scratch.write("README", {});
  CHECK(rule(scratch / "README") == "file-name");
  scratch.write("libatom-empty.so", {});
  CHECK(rule(scratch / "libatom-empty.so") == "not-elf");
}

TEST_CASE("a link is judged by what it leads to") {
  test::Scratch scratch;
  const fs::path target = scratch.add("sound", "elsewhere/real.so");
  fs::create_symlink(target, scratch / "libatom-link.so");
  const Judged judged = judge_file(scratch / "libatom-link.so", Selection{});
  CHECK_MESSAGE(judged.verdict.accepted, judged.verdict.reason);
  CHECK(judged.resolved == target);
  CHECK(judged.plugin->path == target);
  fs::permissions(target.parent_path(), fs::perms::others_write, fs::perm_options::add);
  CHECK(rule(scratch / "libatom-link.so") == "world-writable");
}

TEST_CASE("files and folders that everybody may write are refused") {
  test::Scratch scratch;
  const fs::path file = scratch.add("sound", "inner/libatom-sound.so");
  CHECK(rule(file) == "accepted");
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  CHECK(rule(file) == "world-writable");
  fs::permissions(file, fs::perms::others_write, fs::perm_options::remove);
  fs::permissions(scratch.path(), fs::perms::others_write, fs::perm_options::add);
  CHECK(rule(file) == "world-writable");
  fs::permissions(scratch.path(), fs::perms::others_write, fs::perm_options::remove);
  CHECK(rule(file) == "accepted");
}

TEST_CASE("files of a stranger are refused") {
  if (geteuid() != 0) {
    test::skip("only root can give a file away");
    return;
  }
  test::Scratch scratch;
  const fs::path file = scratch.add("sound", "inner/libatom-sound.so");
  REQUIRE(chown(file.c_str(), 12345, 12345) == 0);
  const Verdict verdict = judge_file(file, Selection{}).verdict;
  CHECK(verdict.rule == "stranger-owned");
  CHECK(verdict.reason.find("12345") != std::string::npos);
  REQUIRE(chown(file.c_str(), 0, 0) == 0);
  REQUIRE(chown(file.parent_path().c_str(), 12345, 12345) == 0);
  CHECK(rule(file) == "stranger-owned");
}

TEST_CASE("an unreadable file is said to be unreadable") {
  if (geteuid() == 0) {
    test::skip("root can read every file");
    return;
  }
  test::Scratch scratch;
  const fs::path file = scratch.add("sound");
  fs::permissions(file, fs::perms::none);
  CHECK(rule(file) == "file-unreadable");
}

TEST_CASE("names with spaces and other letters load") {
  test::Scratch scratch;
  for (const char* name : {"a folder/libatom-my atom.so", "k\xc3\xb6per/x.so", "a'b\"c/$x;y.so"}) {
    const Judged judged = judge_file(scratch.add("sound", name), Selection{});
    CHECK_MESSAGE(judged.verdict.accepted, name << ": " << judged.verdict.reason);
  }
}

TEST_CASE("one file is one plugin, by whatever path and from however many threads") {
  test::Scratch scratch;
  const fs::path file = scratch.add("sound");
  fs::create_hard_link(file, scratch / "libatom-again.so");
  std::vector<Judged> judged(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < judged.size(); ++i) {
    threads.emplace_back([&, i] {
      judged[i] = judge_file(i % 2 ? file : scratch / "libatom-again.so", Selection{});
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Judged& one : judged) {
    REQUIRE(one.plugin != nullptr);
    CHECK(one.plugin == judged[0].plugin);
  }
}

TEST_CASE("a file that was overwritten after it was loaded is refused") {
  test::Scratch scratch;
  const fs::path file = scratch.add("sound");
  REQUIRE(rule(file) == "accepted");
  std::ofstream(file, std::ios::app | std::ios::binary) << "more";
  CHECK(rule(file) == "changed-since-load");
  // The right way to replace one: another file under the old name.
  fs::rename(scratch.add("eager", "new.so"), file);
  CHECK(rule(file) == "accepted");
}

TEST_CASE("globs decide by file name before anything is loaded, and by Atom name after") {
  test::Scratch scratch;
  Selection selection;
  const auto with = [&](const fs::path& path) { return judge_file(path, selection).verdict; };
  const fs::path usual = scratch.add("entry-throws", "libatom-thrower.so");
  selection.disable = {{"thr*", "policy.yaml:3:4"}};
  CHECK(with(usual).rule == "disabled");
  CHECK(with(usual).reason.find("policy.yaml:3:4") != std::string::npos);
  selection.disable.clear();
  selection.enable = {{"sound", ""}};
  CHECK(with(usual).rule == "not-enabled");
  const fs::path other = scratch.add("eager", "vendor.so");
  CHECK(with(other).rule == "not-enabled");
  selection.enable = {{"e?ger", ""}};
  CHECK(with(other).rule == "accepted");
  selection.disable = {{"eager", ""}};
  CHECK(with(other).rule == "disabled");
}
