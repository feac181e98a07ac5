// Which program serves a call whose own is not loaded: what may be loaded when, and what is made
// meanwhile.
#include <doctest/doctest.h>
#include <stdlib.h>

#include <chrono>
#include <thread>

#include "communicator/cuda_programs.h"
#include "gpu/fake_gpu.h"
#include "level.h"
#include "link/programs.h"
#include "program/store.h"
#include "runtime/program/temporary_folder.h"

using namespace purlin;

namespace {

constexpr uint32_t kRanks = 2;

// Before the process's store reads the environment.
const TemporaryFolder& own_cache() {
  static const TemporaryFolder folder;
  setenv("PURLIN_CACHE_DIR", folder.path().c_str(), 1);
  return folder;
}

ProgramNeed sum_of(purlin_dtype dtype) {
  const auto kernel = ProtocolKernel::kLatency;
  return {kernel, constants_for(built_atom("generic"), kernel, all_reduce_form(kRanks), kRanks,
                                dtype, PURLIN_SUM)};
}

// A rank that has the universal program of sums alone.
CudaPrograms rank_on(const std::shared_ptr<const CudaDevice>& device) {
  own_cache();
  auto programs = CudaPrograms::create(device, *built_atom("generic").descriptor);
  REQUIRE_MESSAGE(programs.is_ok(), programs.status().message());
  const Status made = programs->make({sum_of(PURLIN_F32).universal()});
  REQUIRE_MESSAGE(made.is_ok(), made.message());
  return *std::move(programs);
}

ProgramRequest request_of(const CudaDevice& device, const ProgramNeed& need) {
  auto request =
      protocol_request(need.kernel, need.constants, static_cast<uint32_t>(device.architecture()),
                       built_atom("generic").images);
  REQUIRE(request.is_ok());
  return *std::move(request);
}

// Until the program is made. What would make it is seen through, not slept for.
void await_made(const CudaDevice& device, const ProgramNeed& need) {
  const ProgramRequest request = request_of(device, need);
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (process_store().peek(request) == nullptr) {
    REQUIRE(std::chrono::steady_clock::now() < limit);
    std::this_thread::yield();
  }
}

// Serves idle calls until the rank is told to load; false: it never is.
bool asked_to_load(CudaPrograms& rank, const ProgramNeed& need) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (rank.serve(need, Moment::kIdle) != nullptr) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace

TEST_CASE("a call is served at once, and by its own program once that is made and nothing runs") {
  if (!have_device_code()) return;
  test::FakeGpu gpu;
  CudaPrograms rank = rank_on(gpu.device());
  const ProgramNeed need = sum_of(PURLIN_F64);
  const LoadedProgram* any = rank.find(need.universal());
  REQUIRE(any != nullptr);
  const int loaded = gpu.control.calls("cuLibraryLoadData");
  CHECK(rank.serve(need, Moment::kCapture) == any);
  CHECK(rank.serve(need, Moment::kBusy) == any);
  await_made(*gpu.device(), need);
  CHECK(rank.serve(need, Moment::kBusy) == any);
  CHECK(rank.serve(need, Moment::kCapture) == any);
  CHECK(gpu.control.calls("cuLibraryLoadData") == loaded);
  CHECK(asked_to_load(rank, need));
  REQUIRE(rank.make({need}).is_ok());
  CHECK(rank.find(need) != nullptr);
  CHECK(rank.find(need) != any);
  test::count_cases(5);
}

TEST_CASE("a program that need not be linked is loaded by the first call") {
  if (!have_device_code()) return;
  test::FakeGpu gpu;
  CudaPrograms rank = rank_on(gpu.device());
  const ProgramNeed need = sum_of(PURLIN_F16);
  REQUIRE(process_store().get(request_of(*gpu.device(), need)).program.is_ok());
  CHECK(rank.serve(need, Moment::kBusy) == nullptr);
  test::count_cases(1);
}

TEST_CASE("ranks that share a GPU load nothing once one of them was served otherwise") {
  if (!have_device_code()) return;
  test::FakeGpu gpu;
  CudaPrograms first = rank_on(gpu.device()), second = rank_on(gpu.device());
  const ProgramNeed need = sum_of(PURLIN_U8);
  const LoadedProgram* any = first.find(need.universal());
  CHECK(second.find(need.universal()) == any);  // loaded once
  CHECK(first.serve(need, Moment::kShared) == any);
  await_made(*gpu.device(), need);
  CHECK(second.serve(need, Moment::kShared) == any);
  CHECK(first.serve(need, Moment::kShared) == any);

  // A communicator that is created later loads it, and from then on it is there for all of them.
  CudaPrograms third = rank_on(gpu.device());
  const auto deferred = third.deferred();
  REQUIRE(deferred.size() >= 1);
  REQUIRE(third.make(deferred).is_ok());
  const LoadedProgram* own = third.find(need);
  REQUIRE(own != nullptr);
  const int loaded = gpu.control.calls("cuLibraryLoadData");
  CHECK(first.serve(need, Moment::kShared) == own);
  CHECK(second.serve(need, Moment::kCapture) == own);
  CHECK(gpu.control.calls("cuLibraryLoadData") == loaded);
  test::count_cases(6);
}

TEST_CASE("without a universal program, and where nothing is reduced, calls make their own") {
  if (!have_device_code()) return;
  test::FakeGpu gpu;
  own_cache();
  auto rank = CudaPrograms::create(gpu.device(), *built_atom("generic").descriptor);
  REQUIRE(rank.is_ok());
  CHECK(rank->serve(sum_of(PURLIN_I64), Moment::kIdle) == nullptr);
  CHECK(rank->serve(sum_of(PURLIN_I64), Moment::kCapture) == nullptr);
  CudaPrograms other = rank_on(gpu.device());
  const auto kernel = ProtocolKernel::kLatency;
  const ProgramNeed copy = {
      kernel, constants_for(built_atom("generic"), kernel, all_gather_form(kRanks), kRanks,
                            PURLIN_U8, PURLIN_SUM)};
  CHECK(other.serve(copy, Moment::kIdle) == nullptr);
  CHECK_FALSE(copy.may_be_universal());
  test::count_cases(3);
}

TEST_CASE("a universal program counts its own shared memory against the device's") {
  if (!have_device_code()) return;
  test::FakeGpu gpu;
  CudaPrograms rank = rank_on(gpu.device());
  ProgramNeed need = {ProtocolKernel::kThroughput,
                      constants_for(built_atom("generic"), ProtocolKernel::kThroughput,
                                    all_reduce_form(kRanks), kRanks, PURLIN_F32, PURLIN_SUM)};
  need.constants.stages = 1;
  need.constants.stage_bytes = gpu.device()->facts().shared_bytes_per_block -
                               built_atom("generic").descriptor->limits->shared_bytes_fixed;
  const auto fitting = [&] { return rank.fitting({need, need.universal()}); };
  REQUIRE(fitting().size() == 1);
  CHECK_FALSE(fitting()[0].constants.universal);
  need.constants.stage_bytes -= static_shared_bytes(need.universal().constants);
  CHECK(fitting().size() == 2);
  test::count_cases(3);
}
