#include "device/loaded_program.h"

#include "device/launch.h"
#include "gpu/fake_gpu.h"

namespace purlin {
namespace {

using test::check_refusal;
using test::FakeGpu;
using test::FakeSetup;

const std::byte kImage[16] = {};

TEST_CASE("a program is wholly loaded before its first launch") {
  FakeGpu gpu;
  const auto device = gpu.device();
  {
    const auto program = gpu.program(device, "snac", 256);
    CHECK(program->blocks_per_multiprocessor() == 8);
    CHECK(program->registers() == 32);
    CHECK(gpu.control.calls("cuFuncLoad") == 1);
    CHECK(gpu.control.calls("cuFuncSetAttribute") == 2);
    CHECK(program->global("purlin_device_abi_snac").value().second == 8);
    CHECK(gpu.control.live().libraries == 1);
  }
  CHECK(gpu.control.live().libraries == 0);
}

TEST_CASE("a shape that cannot run is refused with the figures") {
  FakeGpu gpu;
  const auto device = gpu.device();
  check_refusal(LoadedProgram::load(device, kImage, {"snac", 2048, 0}).status(), PURLIN_UNSUPPORTED,
                {"loading snac", "2048 threads", "1 to 1024", "32 registers"});
  check_refusal(LoadedProgram::load(device, kImage, {"snac", 0, 0}).status(), PURLIN_UNSUPPORTED,
                {"0 threads"});
  check_refusal(LoadedProgram::load(device, kImage, {"snac", 512, 300000}).status(),
                PURLIN_UNSUPPORTED, {"300000", "232448", "stage_bytes"});
  check_refusal(LoadedProgram::load(device, kImage, {"missing", 512, 0}).status(),
                PURLIN_CUDA_ERROR, {"missing", "cuLibraryGetKernel"});
  CHECK(gpu.control.live().libraries == 0);
}

TEST_CASE("every failing step of loading is reported and leaves nothing behind") {
  FakeGpu gpu;
  const auto device = gpu.device();
  for (const char* call : {"cuLibraryLoadData", "cuLibraryGetKernel", "cuKernelGetFunction",
                           "cuFuncLoad", "cuFuncGetAttribute", "cuFuncSetAttribute",
                           "cuOccupancyMaxActiveBlocksPerMultiprocessor"}) {
    gpu.control.fail(call, cu::kUnknown);
    check_refusal(LoadedProgram::load(device, kImage, {"snac", 512, 0}).status(), PURLIN_CUDA_ERROR,
                  {call, "loading snac"});
    CHECK(gpu.control.live().libraries == 0);
  }
}

TEST_CASE("a launch carries grid, shared memory and attributes") {
  FakeGpu gpu;
  const auto device = gpu.device();
  const auto program = gpu.program(device, "snac", 256);
  LaunchPlan plan;
  plan.program = program.get();
  plan.grid = 24;
  plan.programmatic = true;
  REQUIRE(launch(plan, gpu.stream(*device)).is_ok());
  const test::FakeLaunch seen = gpu.control.launches().at(0);
  CHECK(seen.kernel == "snac");
  CHECK(seen.grid == 24);
  CHECK(seen.threads == 256);
  CHECK(seen.shared_bytes == 1024);
  CHECK(seen.programmatic);
  CHECK(seen.remote_domain);
}

TEST_CASE("the remote domain is not asked for where there is only one") {
  FakeSetup setup;
  setup.sync_domains = 1;
  FakeGpu gpu(setup);
  const auto device = gpu.device();
  const auto program = gpu.program(device, "snac");
  LaunchPlan plan;
  plan.program = program.get();
  plan.grid = 1;
  REQUIRE(launch(plan, gpu.stream(*device)).is_ok());
  CHECK_FALSE(gpu.control.launches().at(0).remote_domain);
}

TEST_CASE("a launch runs on the program's device whatever is current") {
  FakeGpu gpu;
  const auto first = gpu.device(0);
  const auto second = gpu.device(1);
  const auto program = gpu.program(second, "snac");
  const cu::Stream stream = gpu.stream(*second);
  const ContextScope elsewhere(*first);
  LaunchPlan plan;
  plan.program = program.get();
  plan.grid = 1;
  REQUIRE(launch(plan, stream).is_ok());
  CHECK(gpu.control.launches().at(0).device == 1);
  CHECK(current_ordinal(*gpu.api).value() == 0);
}

TEST_CASE("a failing launch names kernel, grid and device") {
  FakeGpu gpu;
  const auto device = gpu.device();
  const auto program = gpu.program(device, "snac");
  const cu::Stream stream = gpu.stream(*device);
  gpu.control.fail("cuLaunchKernelEx", cu::kIllegalAddress);
  LaunchPlan plan;
  plan.program = program.get();
  plan.grid = 5;
  check_refusal(
      launch(plan, stream), PURLIN_CUDA_ERROR,
      {"cuLaunchKernelEx", "launching snac (5 CTAs of 512 threads", "GPU 0", "compute-sanitizer"});
}

}  // namespace
}  // namespace purlin
