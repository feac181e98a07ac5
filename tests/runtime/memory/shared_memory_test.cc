#include "memory/shared_memory.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>

namespace {

using purlin::OwnedFd;
using purlin::SharedMemory;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool mapped(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (contains(line, name)) return true;
  return false;
}

// Exit status of `body` run in a child, where it may change limits; -1 when a signal ended it.
int in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("shared memory is zeroed, reserved whole and sealed") {
  for (const uint64_t bytes : {uint64_t{1}, uint64_t{4096}, uint64_t{4097}, uint64_t{3} << 20}) {
    auto memory = SharedMemory::create("purlin-test-memory", bytes);
    REQUIRE_MESSAGE(memory.is_ok(), memory.status().message());
    CHECK(memory->size() == bytes);
    for (uint64_t i = 0; i < bytes; ++i) REQUIRE(memory->data()[i] == std::byte{0});
    struct stat facts {};
    REQUIRE(::fstat(memory->fd(), &facts) == 0);
    CHECK(static_cast<uint64_t>(facts.st_blocks) * 512 >= bytes);
    CHECK(facts.st_size % ::sysconf(_SC_PAGESIZE) == 0);
    CHECK(::ftruncate(memory->fd(), 0) != 0);
    CHECK(errno == EPERM);
    CHECK(::ftruncate(memory->fd(), facts.st_size * 2) != 0);
    CHECK(::fcntl(memory->fd(), F_ADD_SEALS, F_SEAL_WRITE) != 0);
    CHECK((::fcntl(memory->fd(), F_GETFD) & FD_CLOEXEC) != 0);
  }
}

TEST_CASE("memory made after dirty memory was given back is zeroed") {
  constexpr uint64_t kBytes = 8 << 20;
  for (int round = 0; round < 4; ++round) {
    auto memory = SharedMemory::create("purlin-test-dirty", kBytes);
    REQUIRE(memory.is_ok());
    uint64_t dirty = 0;
    for (uint64_t i = 0; i < kBytes; ++i) dirty += memory->data()[i] != std::byte{0};
    CHECK(dirty == 0);
    std::memset(memory->data(), 0xff, kBytes);
  }
}

TEST_CASE("a peer sees the same bytes, also after a move and without the first descriptor") {
  auto mine = SharedMemory::create("purlin-test-shared", 10000);
  REQUIRE(mine.is_ok());
  auto theirs = SharedMemory::adopt(OwnedFd(::dup(mine->fd())), 10000);
  REQUIRE_MESSAGE(theirs.is_ok(), theirs.status().message());
  mine->close_fd();
  mine->populate();
  SharedMemory moved = std::move(mine).value();
  moved.data()[9999] = std::byte{42};
  CHECK(theirs->data()[9999] == std::byte{42});
  CHECK(theirs->data() != moved.data());
}

TEST_CASE("the mapping goes with its owner") {
  {
    auto memory = SharedMemory::create("purlin-test-gone", 4096);
    REQUIRE(memory.is_ok());
    CHECK(mapped("purlin-test-gone"));
  }
  CHECK_FALSE(mapped("purlin-test-gone"));
}

TEST_CASE("adopting refuses a wrong size, an unsealed file and an unreserved one") {
  auto memory = SharedMemory::create("purlin-test-size", 8192);
  REQUIRE(memory.is_ok());
  const auto wrong = SharedMemory::adopt(OwnedFd(::dup(memory->fd())), 20000);
  CHECK(wrong.status().code() == PURLIN_MISMATCH);
  CHECK(contains(wrong.status().message(), "8192"));
  CHECK(contains(wrong.status().message(), "20000"));

  const int open_file = ::memfd_create("purlin-test-unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  REQUIRE(::ftruncate(open_file, 8192) == 0);
  const auto unsealed = SharedMemory::adopt(OwnedFd(::dup(open_file)), 8192);
  CHECK(unsealed.status().code() == PURLIN_MISMATCH);
  CHECK(contains(unsealed.status().message(), "sealed"));
  REQUIRE(::fcntl(open_file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
  const auto hollow = SharedMemory::adopt(OwnedFd(open_file), 8192);
  CHECK(hollow.status().code() == PURLIN_MISMATCH);
  CHECK(contains(hollow.status().message(), "reserved"));

  const auto none = SharedMemory::adopt(OwnedFd(), 8192);
  CHECK(none.status().code() == PURLIN_SYSTEM_ERROR);
}

TEST_CASE("more memory than there is: an error naming needed and available bytes, no signal") {
  const auto huge = SharedMemory::create("purlin-test-huge", uint64_t{1} << 50);
  REQUIRE_FALSE(huge.is_ok());
  CHECK(huge.status().code() == PURLIN_OUT_OF_MEMORY);
  CHECK(contains(huge.status().message(), "1125899906842624"));
  CHECK(contains(huge.status().message(), "available"));
  CHECK(SharedMemory::create("purlin-test-none", 0).status().code() == PURLIN_INVALID_ARGUMENT);
  CHECK(SharedMemory::create("purlin-test-most", UINT64_MAX).status().code() ==
        PURLIN_INVALID_ARGUMENT);
}

TEST_CASE("limits of the process become errors that name them") {
  CHECK(in_child([] {
          const rlimit small{1 << 20, 1 << 20};
          if (::setrlimit(RLIMIT_FSIZE, &small) != 0) return 90;
          const auto memory = SharedMemory::create("purlin-test-fsize", 2 << 20);
          if (memory.status().code() != PURLIN_OUT_OF_MEMORY) return 1;
          if (!contains(memory.status().message(), "RLIMIT_FSIZE")) return 2;
          return SharedMemory::create("purlin-test-fsize", 1 << 20).is_ok() ? 0 : 3;
        }) == 0);
  CHECK(in_child([] {
          rlimit none{};
          if (::getrlimit(RLIMIT_NOFILE, &none) != 0) return 90;
          none.rlim_cur = 0;
          if (::setrlimit(RLIMIT_NOFILE, &none) != 0) return 90;
          const auto memory = SharedMemory::create("purlin-test-nofile", 4096);
          if (memory.status().code() != PURLIN_SYSTEM_ERROR) return 1;
          return contains(memory.status().message(), "RLIMIT_NOFILE is 0") ? 0 : 2;
        }) == 0);
}

TEST_CASE("an owned descriptor closes once, moves and duplicates") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  OwnedFd write_end(ends[1]);
  OwnedFd read_end(ends[0]);
  OwnedFd second = write_end.duplicate();
  CHECK(second.get() != write_end.get());
  OwnedFd moved = std::move(write_end);
  CHECK_FALSE(static_cast<bool>(write_end));
  moved.reset();
  char byte = 'x';
  CHECK(::write(second.get(), &byte, 1) == 1);
  CHECK(::read(read_end.get(), &byte, 1) == 1);
  errno = 77;
  second.reset();
  CHECK(errno == 77);
  CHECK(::read(read_end.get(), &byte, 1) == 0);  // all writers are closed
}
