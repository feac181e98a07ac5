// The machine's own GPU for a test case, or a counted skip.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include "device/context_scope.h"
#include "device/loaded_program.h"
#include "level.h"

namespace purlin::test {

struct RealGpu {
  const DriverApi* api = nullptr;
  std::shared_ptr<const CudaDevice> device;
  std::vector<std::byte> probe;  // image of the probe kernels

  // A probe kernel, one thread a CTA.
  std::shared_ptr<const LoadedProgram> program(const char* kernel) const {
    auto loaded = LoadedProgram::load(device, probe, {kernel, 1, 0});
    REQUIRE_MESSAGE(loaded.is_ok(), loaded.status().message());
    return std::move(loaded).value();
  }
};

// Device `ordinal`; none, with the reason printed and counted, where there is no such GPU or the
// build has no device code.
inline std::optional<RealGpu> real_gpu(int ordinal = 0) {
#ifndef PURLIN_GPU_PROBE
  static_cast<void>(ordinal);
  skip("gpu: this build has no CUDA toolkit");
  return std::nullopt;
#else
  const Result<const DriverApi*> api = driver();
  if (!api) {
    skip("gpu: " + api.status().message());
    return std::nullopt;
  }
  int count = 0;
  REQUIRE(api.value()->device_get_count(&count).is_ok());
  if (ordinal >= count) {
    skip("gpu: device " + std::to_string(ordinal) + " needed, " + std::to_string(count) +
         " visible");
    return std::nullopt;
  }
  RealGpu gpu;
  gpu.api = api.value();
  auto device = CudaDevice::open(*gpu.api, ordinal);
  REQUIRE_MESSAGE(device.is_ok(), device.status().message());
  gpu.device = std::move(device).value();
  std::ifstream file(PURLIN_GPU_PROBE, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  REQUIRE_FALSE(bytes.empty());
  gpu.probe.resize(bytes.size());
  std::transform(bytes.begin(), bytes.end(), gpu.probe.begin(),
                 [](char c) { return static_cast<std::byte>(c); });
  return gpu;
#endif
}

}  // namespace purlin::test
