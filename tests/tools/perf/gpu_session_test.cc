// `purlin perf` with ranks in device memory, on a driver that keeps it in host memory: every result
// has to be fetched to be judged.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "gpu/fake_driver.h"
#include "stand_in.h"
#include "tools/cuda_driver.h"
#include "tools/names.h"
#include "tools/perf_session.h"
#include "tools/rank_device.h"

namespace purlin::tools {
namespace {

struct Ran {
  PerfResult result;
  std::string table;
  std::vector<std::pair<int, std::string>> complaints;

  std::string words() const {
    std::string all;
    for (const auto& [rank, text] : complaints) all += std::to_string(rank) + ": " + text + "\n";
    return all;
  }
};

Ran run(PerfArguments given, Fault fault = Fault::kNone, const char* driver = PURLIN_FAKE_DRIVER) {
  setenv("PURLIN_CUDA_DRIVER", driver, 1);
  given.ranks = 3;
  given.end = "1000";
  given.check = true;
  given.iterations = 50;
  given.device = "cuda";
  if (given.collective == "barrier") given.end = "";
  const auto options = check_arguments(
      given, [](const char*) -> std::optional<std::string> { return std::nullopt; });
  REQUIRE_MESSAGE(options.ok(), (options.ok() ? "" : options.error()));
  set_fault(fault);
  Ran ran;
  ran.result = run_perf(*options, {[&](const std::string& line) { ran.table += line + "\n"; },
                                   [&](int rank, const std::string& text) {
                                     ran.complaints.push_back({rank, text});
                                   }});
  return ran;
}

PerfArguments asked(int collective) {
  PerfArguments given;
  given.collective = collective_name(collective);
  return given;
}

TEST_CASE("right results of GPU ranks pass, in graphs and call by call") {
  for (int collective = 0; collective < PURLIN_CUSTOM; ++collective) {
    for (bool eager : {false, true}) {
      PerfArguments given = asked(collective);
      given.eager = eager;
      CAPTURE(given.collective);
      const Ran ran = run(given);
      CHECK(ran.words() == "");
      CHECK_FALSE(ran.result.failed);
      CHECK(ran.result.wrong == 0);
      CHECK(ran.table.find(eager ? "calls one by one" : "graphs") != std::string::npos);
    }
  }
}

TEST_CASE("calls of GPU ranks can stand behind an empty kernel, together and alone") {
  for (bool eager : {false, true}) {
    for (int alone : {-1, 2}) {
      PerfArguments given = asked(PURLIN_ALL_GATHER);
      given.eager = eager;
      given.alone = alone;
      given.behind = true;
      test::FakeControl& control = test::open_fake_driver(PURLIN_FAKE_DRIVER);
      const Ran ran = run(given);
      CHECK(ran.words() == "");
      CHECK(ran.table.find("behind an empty kernel") != std::string::npos);
      CHECK(nlohmann::json::parse(ran.result.json)["rows"][0].contains("empty_us"));
      // Of each rank: before 50 calls in whole graphs and a graph that is not timed, and as many alone.
      const auto launches = control.launches();
      CHECK(std::count_if(launches.begin(), launches.end(), [](const auto& launch) {
              return launch.kernel == "purlin_empty";
            }) == (alone < 0 ? 3 : 1) * 2 * 4 * 20);
    }
  }
}

TEST_CASE("wrong results of GPU ranks are found") {
  for (Fault fault : {Fault::kFlipBit, Fault::kSkipLast, Fault::kTouchSend, Fault::kBeyond}) {
    const Ran ran = run(asked(PURLIN_ALL_REDUCE), fault);
    CHECK(ran.result.wrong > 0);
    REQUIRE_FALSE(ran.complaints.empty());
    for (const auto& [rank, text] : ran.complaints) CHECK(rank == 1);
  }
}

TEST_CASE("an error of a call on a GPU ends the run with that error") {
  PerfArguments given = asked(PURLIN_ALL_GATHER);
  given.warmup = 0;
  const Ran ran = run(given, Fault::kFailRun);
  CHECK(ran.result.failed);
  bool told = false;
  for (const auto& [rank, text] : ran.complaints)
    told = told || (rank == 1 && text.find("rank 1 stumbled") != std::string::npos);
  CHECK(told);
}

TEST_CASE("registered buffers of GPUs are the library's own memory") {
  PerfArguments given = asked(PURLIN_ALL_GATHER);
  given.registered = true;
  const Ran ran = run(given);
  CHECK(ran.words() == "");
  CHECK(ran.result.wrong == 0);
  CHECK(registered().ever == 2 * 3);
  CHECK(registered().now == 0);
  CHECK(registered().blocks == 0);
  CHECK(ran.table.find("registered") != std::string::npos);
}

TEST_CASE("memory of a device is copied whole and given back") {
  setenv("PURLIN_CUDA_DRIVER", PURLIN_FAKE_DRIVER, 1);
  const auto driver = CudaDriver::open();
  REQUIRE(driver.ok());
  CHECK((*driver)->devices() == 2);
  const auto device = cuda_device(**driver, 1, true);
  REQUIRE(device.ok());
  auto memory = (*device)->allocate(5);
  REQUIRE(memory.ok());
  char back[5] = {};
  CHECK((*device)->copy_in(*memory, "four", 5).ok());
  CHECK((*device)->copy_out(back, *memory, 5).ok());
  CHECK(std::string(back) == "four");
  (*device)->release(*memory);
  CHECK(cuda_device(**driver, 7, true).error().find("cuDeviceGet failed") == 0);
}

TEST_CASE("without a driver GPU ranks are refused, and told of ranks in host memory") {
  const Ran ran = run(asked(PURLIN_ALL_REDUCE), Fault::kNone, "/nowhere/libcuda.so");
  CHECK(ran.result.failed);
  for (const char* part : {"no CUDA driver", "/nowhere/libcuda.so", "--device host"})
    CHECK_MESSAGE(ran.words().find(part) != std::string::npos, ran.words());
}

}  // namespace
}  // namespace purlin::tools
