#include "program/folder.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "level.h"
#include "runtime/program/child.h"
#include "runtime/program/temporary_folder.h"

using namespace purlin;

namespace {

constexpr uid_t kNobody = 65534;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}
std::string text_of(const ProgramFolder::Contents& contents) {
  return std::string(reinterpret_cast<const char*>(contents.bytes.data()), contents.bytes.size());
}
mode_t mode_of(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777 : 0;
}

}  // namespace

TEST_CASE("folders and files are made for their owner alone") {
  TemporaryFolder temporary;
  const auto folder = ProgramFolder::create(temporary.at("a/b"), Trust::kOwn, 0700);
  REQUIRE_MESSAGE(folder.is_ok(), folder.status().message());
  CHECK(mode_of(temporary.at("a")) == 0700);
  CHECK(mode_of(temporary.at("a/b")) == 0700);
  REQUIRE(folder->write("x", bytes_of("hello"), 0600).is_ok());
  CHECK(mode_of(temporary.at("a/b/x")) == 0600);
  const auto contents = folder->read("x");
  REQUIRE(contents.is_ok());
  CHECK(contents->found);
  CHECK(text_of(*contents) == "hello");
  CHECK_FALSE(folder->read("y")->found);
  const auto names = folder->names();
  REQUIRE(names.is_ok());
  CHECK(*names == std::vector<std::string>{".", "..", "x"});  // no temporary file is left
}

TEST_CASE("a file is replaced whole") {
  TemporaryFolder temporary;
  const auto folder = ProgramFolder::create(temporary.at("c"), Trust::kOwn, 0700);
  REQUIRE(folder.is_ok());
  REQUIRE(folder->write("x", bytes_of("a longer first text"), 0600).is_ok());
  REQUIRE(folder->write("x", bytes_of("second"), 0600).is_ok());
  CHECK(text_of(*folder->read("x")) == "second");
}

TEST_CASE("what others may write is not read, and the words say how to mend it") {
  TemporaryFolder temporary;
  const std::string path = temporary.at("c");
  const auto folder = ProgramFolder::create(path, Trust::kOwn, 0700);
  REQUIRE(folder.is_ok());
  REQUIRE(folder->write("x", bytes_of("x"), 0600).is_ok());
  for (const mode_t mode : {mode_t{0620}, mode_t{0602}}) {
    REQUIRE(chmod((path + "/x").c_str(), mode) == 0);
    const auto contents = folder->read("x");
    REQUIRE_FALSE(contents.is_ok());
    CHECK(contents.status().message().find("chmod go-w " + path + "/x") != std::string::npos);
  }
  for (const mode_t mode : {mode_t{0770}, mode_t{0777}}) {
    REQUIRE(chmod(path.c_str(), mode) == 0);
    for (const Trust trust : {Trust::kOwn, Trust::kOwnOrRoot}) {
      const auto opened = ProgramFolder::open(path, trust);
      REQUIRE_FALSE(opened.is_ok());
      CHECK(opened.status().code() == PURLIN_LINK_ERROR);
      CHECK(opened.status().message().find("chmod go-w " + path) != std::string::npos);
    }
  }
}

TEST_CASE("links, folders and devices are not read as programs") {
  TemporaryFolder temporary;
  const auto folder = ProgramFolder::create(temporary.at("c"), Trust::kOwn, 0700);
  REQUIRE(folder.is_ok());
  std::ofstream(temporary.at("elsewhere")) << "text";
  REQUIRE(symlink(temporary.at("elsewhere").c_str(), temporary.at("c/link").c_str()) == 0);
  REQUIRE(mkdir(temporary.at("c/folder").c_str(), 0700) == 0);
  REQUIRE(mkfifo(temporary.at("c/pipe").c_str(), 0600) == 0);
  for (const char* name : {"link", "folder", "pipe"})
    CHECK_MESSAGE(!folder->read(name).is_ok(), name);
  REQUIRE(symlink(temporary.at("c").c_str(), temporary.at("d").c_str()) == 0);
  CHECK_FALSE(ProgramFolder::open(temporary.at("d"), Trust::kOwn).is_ok());
  CHECK(ProgramFolder::open(temporary.at("d"), Trust::kOwnOrRoot).is_ok());
}

TEST_CASE("a stranger's folder and file are refused") {
  if (geteuid() != 0) return test::skip("only root can give a file to another user");
  TemporaryFolder temporary;
  const std::string path = temporary.at("c");
  const auto folder = ProgramFolder::create(path, Trust::kOwn, 0700);
  REQUIRE(folder.is_ok());
  REQUIRE(folder->write("x", bytes_of("x"), 0600).is_ok());
  REQUIRE(chown((path + "/x").c_str(), kNobody, kNobody) == 0);
  CHECK(folder->read("x").status().message().find("belongs to user 65534") != std::string::npos);
  REQUIRE(chown(path.c_str(), kNobody, kNobody) == 0);
  for (const Trust trust : {Trust::kOwn, Trust::kOwnOrRoot})
    CHECK(ProgramFolder::open(path, trust).status().message().find("belongs to user 65534") !=
          std::string::npos);
}

TEST_CASE("root's folder is trusted for prelinked programs, not as somebody else's cache") {
  if (geteuid() != 0) return test::skip("only root can act as another user");
  TemporaryFolder temporary;
  REQUIRE(chmod(temporary.path().c_str(), 0755) == 0);
  const auto folder = ProgramFolder::create(temporary.at("c"), Trust::kOwn, 0755);
  REQUIRE(folder.is_ok());
  REQUIRE(folder->write("x", bytes_of("x"), 0644).is_ok());
  const int status = wait_child(start_child([&] {
    if (setuid(kNobody) != 0) return 1;
    if (ProgramFolder::open(temporary.at("c"), Trust::kOwn).is_ok()) return 2;
    const auto opened = ProgramFolder::open(temporary.at("c"), Trust::kOwnOrRoot);
    if (!opened) return 3;
    const auto contents = opened->read("x");
    if (!contents || !contents->found) return 4;
    return opened->write("y", bytes_of("y"), 0600).is_ok() ? 5 : 0;
  }));
  CHECK(status == 0);
}

TEST_CASE("a relative folder, and one below a file, are refused with the path") {
  CHECK(ProgramFolder::create("relative", Trust::kOwn, 0700).status().code() ==
        PURLIN_INVALID_ARGUMENT);
  TemporaryFolder temporary;
  std::ofstream(temporary.at("file")) << "x";
  const auto folder = ProgramFolder::create(temporary.at("file/c"), Trust::kOwn, 0700);
  REQUIRE_FALSE(folder.is_ok());
  CHECK(folder.status().code() == PURLIN_SYSTEM_ERROR);
  CHECK(folder.status().message().find("mkdir of " + temporary.at("file/c")) == 0);
}
