#include "program/lock.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include "runtime/program/child.h"
#include "runtime/program/temporary_folder.h"

using namespace purlin;
using std::chrono::milliseconds;

namespace {
Digest digest_of(uint8_t first) {
  Digest digest{};
  digest[0] = first;
  return digest;
}
}  // namespace

TEST_CASE("one holder at a time, other programs undisturbed, bounded waits") {
  TemporaryFolder temporary;
  const auto folder = ProgramFolder::create(temporary.at("c"), Trust::kOwn, 0700);
  REQUIRE(folder.is_ok());
  auto first = ProgramLock::try_take(*folder, digest_of(1));
  REQUIRE(first.is_ok());
  REQUIRE(first->has_value());
  CHECK_FALSE(ProgramLock::try_take(*folder, digest_of(1))->has_value());
  CHECK(ProgramLock::try_take(*folder, digest_of(2))->has_value());
  const auto start = std::chrono::steady_clock::now();
  CHECK_FALSE(ProgramLock::take(*folder, digest_of(1), milliseconds(30))->has_value());
  CHECK(std::chrono::steady_clock::now() - start >= milliseconds(30));
  first->reset();
  CHECK(ProgramLock::take(*folder, digest_of(1), milliseconds(0))->has_value());
}

TEST_CASE("a process that dies leaves its lock to others") {
  TemporaryFolder temporary;
  const auto folder = ProgramFolder::create(temporary.at("c"), Trust::kOwn, 0700);
  REQUIRE(folder.is_ok());
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = start_child([&] {
    const auto lock = ProgramLock::try_take(*folder, digest_of(1));
    if (!lock || !lock->has_value() || write(ready[1], "x", 1) != 1) return 1;
    for (;;) pause();
  });
  char byte;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  CHECK_FALSE(ProgramLock::try_take(*folder, digest_of(1))->has_value());
  REQUIRE(kill(child, SIGKILL) == 0);
  CHECK(wait_child(child) == -1);
  CHECK(ProgramLock::try_take(*folder, digest_of(1))->has_value());
  close(ready[0]);
  close(ready[1]);
}
