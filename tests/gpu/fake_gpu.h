// A fresh fake driver and its devices, for one test case.
#pragma once

#include <doctest/doctest.h>

#include <memory>

#include "device/context_scope.h"
#include "device/loaded_program.h"
#include "gpu/fake_driver.h"

namespace purlin::test {

// Must not outlive the objects made from it; one at a time in a process.
struct FakeGpu {
  explicit FakeGpu(const FakeSetup& setup = {})
      : control(open_fake_driver(PURLIN_FAKE_DRIVER, setup)) {
    Result<std::unique_ptr<const DriverApi>> opened = DriverApi::open(PURLIN_FAKE_DRIVER);
    REQUIRE_MESSAGE(opened.is_ok(), opened.status().message());
    api = std::move(opened).value();
  }

  std::shared_ptr<const CudaDevice> device(int ordinal = 0) {
    Result<std::shared_ptr<const CudaDevice>> opened = CudaDevice::open(*api, ordinal);
    REQUIRE_MESSAGE(opened.is_ok(), opened.status().message());
    return std::move(opened).value();
  }

  std::shared_ptr<const LoadedProgram> program(const std::shared_ptr<const CudaDevice>& device,
                                               const std::string& kernel, unsigned threads = 512) {
    static const std::byte image[64] = {};
    Result<std::shared_ptr<const LoadedProgram>> loaded =
        LoadedProgram::load(device, image, {kernel, threads, 1024});
    REQUIRE_MESSAGE(loaded.is_ok(), loaded.status().message());
    return std::move(loaded).value();
  }

  // A stream of the application.
  cu::Stream stream(const CudaDevice& device) {
    const ContextScope scope(device);
    cu::Stream made = nullptr;
    REQUIRE(api->stream_create(&made, cu::kStreamNonBlocking).is_ok());
    return made;
  }

  FakeControl& control;
  std::unique_ptr<const DriverApi> api;
};

// Checks a status's code and that its text holds every one of the words.
inline void check_refusal(const Status& status, purlin_status code,
                          std::initializer_list<const char*> words) {
  CHECK(status.code() == code);
  for (const char* word : words) {
    CHECK_MESSAGE(status.message().find(word) != std::string::npos, status.message(),
                  " lacks: ", word);
  }
}

}  // namespace purlin::test
