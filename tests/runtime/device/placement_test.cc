#include "device/placement.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "device/connections.h"

namespace purlin {
namespace {

RankPlace place(unsigned char device, uint64_t process, uint32_t mps = 0) {
  RankPlace made = {};
  for (unsigned char& byte : made.device.bytes) byte = device;
  made.process = process;
  made.mps = mps;
  return made;
}

TEST_CASE("ranks of one process on one device are counted") {
  const std::vector<RankPlace> places = {place(1, 7), place(2, 7), place(1, 7), place(3, 8)};
  CHECK(ranks_on_my_device(places, 0, false).value() == 2);
  CHECK(ranks_on_my_device(places, 1, false).value() == 1);
  CHECK(ranks_on_my_device(places, 3, false).value() == 1);
}

TEST_CASE("processes that share a device are refused by rank and identity") {
  const std::vector<RankPlace> places = {place(1, 7), place(0xab, 7), place(0xab, 8)};
  CHECK(ranks_on_my_device(places, 0, false).is_ok());
  const Status status = ranks_on_my_device(places, 1, false).status();
  CHECK(status.code() == PURLIN_UNSUPPORTED);
  CHECK(status.message().find("ranks 1 and 2") != std::string::npos);
  CHECK(status.message().find("GPU-abababab") != std::string::npos);
  CHECK(ranks_on_my_device(places, 1, true).value() == 1);  // each has the GPU in its turn
}

TEST_CASE("processes share a device under MPS, if all of them run there") {
  CHECK(ranks_on_my_device(std::vector{place(1, 7, 1), place(1, 8, 1)}, 0, false).value() == 2);
  CHECK_FALSE(ranks_on_my_device(std::vector{place(1, 7, 1), place(1, 8, 0)}, 0, false).is_ok());
}

TEST_CASE("a process keeps its token, and a child made by fork has another") {
  const uint64_t mine = process_token();
  CHECK(process_token() == mine);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(process_token() == mine ? 1 : 0);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

constexpr const char* kVariable = "CUDA_DEVICE_MAX_CONNECTIONS";

TEST_CASE("ranks beyond the hardware queues are refused with the number in force") {
  unsetenv(kVariable);
  CHECK(check_connections(8, false).is_ok());
  const Status status = check_connections(9, false);
  CHECK(status.code() == PURLIN_UNSUPPORTED);
  CHECK(status.message().find("there are 8 (the driver's default)") != std::string::npos);
  setenv(kVariable, "2", 1);
  CHECK(check_connections(2, true).is_ok());
  CHECK(check_connections(3, true).message().find("CUDA_DEVICE_MAX_CONNECTIONS=2") !=
        std::string::npos);
  CHECK(check_connections(1, true).is_ok());
  raise_connections(16);  // the application's own value stays
  CHECK(std::string(getenv(kVariable)) == "2");
  unsetenv(kVariable);
}

TEST_CASE("the queues are raised only where needed, and in time") {
  unsetenv(kVariable);
  raise_connections(1);
  CHECK(getenv(kVariable) == nullptr);
  raise_connections(2);
  CHECK(std::string(getenv(kVariable)) == "32");
  CHECK(check_connections(9, false).is_ok());
  const Status late = check_connections(9, true);
  CHECK(late.code() == PURLIN_UNSUPPORTED);
  CHECK(late.message().find("before Purlin could raise it") != std::string::npos);
  unsetenv(kVariable);
}

}  // namespace
}  // namespace purlin
