#include "device/driver_api.h"

#include "device/driver_advice.h"
#include "gpu/fake_gpu.h"

namespace purlin {
namespace {

using test::check_refusal;
using test::FakeGpu;
using test::FakeSetup;

Status open_status(const FakeSetup& setup) {
  test::open_fake_driver(PURLIN_FAKE_DRIVER, setup);
  return DriverApi::open(PURLIN_FAKE_DRIVER).status();
}

TEST_CASE("a machine without a driver is told so, with the driver it needs") {
  check_refusal(DriverApi::open("libno-such-driver.so.1").status(), PURLIN_UNSUPPORTED,
                {"libno-such-driver.so.1", "CUDA 1", "host device"});
}

TEST_CASE("a library that is no driver is refused") {
  check_refusal(DriverApi::open("libm.so.6").status(), PURLIN_UNSUPPORTED,
                {"libm.so.6", "cuDriverGetVersion"});
}

TEST_CASE("a driver older than the calls is refused with both versions") {
  FakeSetup setup;
  setup.driver_version = 12020;
  check_refusal(open_status(setup), PURLIN_UNSUPPORTED, {"serves CUDA 12.2", "Update the driver"});
}

TEST_CASE("a driver needs the toolkit's major version, and no newer minor") {
  CHECK(check_driver_version(12040, "", 12040).is_ok());
  CHECK(check_driver_version(12040, "12.9", 12040).is_ok());
  CHECK(check_driver_version(13000, "13.2", 12040).is_ok());
  check_refusal(check_driver_version(12090, "13.0", 12040), PURLIN_UNSUPPORTED,
                {"serves CUDA 12.9", "CUDA 13.0 or newer", "driver 580 or newer"});
  check_refusal(check_driver_version(12030, "", 12040), PURLIN_UNSUPPORTED,
                {"CUDA 12.4 or newer", "driver 550 or newer"});
}

TEST_CASE("a missing call is named") {
  FakeSetup setup;
  setup.hidden_call = "cuMemCreate";
  check_refusal(open_status(setup), PURLIN_UNSUPPORTED, {"cuMemCreate", "CUDA 10.2"});
}

TEST_CASE("a driver without devices says how to go on") {
  FakeSetup setup;
  setup.devices = 0;
  check_refusal(open_status(setup), PURLIN_CUDA_ERROR,
                {"cuInit failed", "code 100", "CUDA_VISIBLE_DEVICES"});
}

TEST_CASE("an error carries the call, the driver's words and an advice") {
  FakeGpu gpu;
  int count = 0;
  gpu.control.fail("cuDeviceGetCount", cu::kNotSupported);
  check_refusal(gpu.api->device_get_count(&count), PURLIN_CUDA_ERROR,
                {"cuDeviceGetCount failed: CUDA_ERROR_NOT_SUPPORTED", "as the name says",
                 "code 801", "purlin explain"});
  CHECK(gpu.api->device_get_count(&count).is_ok());
  CHECK(count == 2);
}

TEST_CASE("out of memory has a status of its own") {
  FakeGpu gpu;
  CHECK(gpu.api->check("cuMemCreate", cu::kOutOfMemory).code() == PURLIN_OUT_OF_MEMORY);
}

TEST_CASE("a code that the driver cannot name still makes a sentence") {
  FakeGpu gpu;
  check_refusal(gpu.api->check("cuFuncLoad", 777), PURLIN_CUDA_ERROR,
                {"cuFuncLoad failed: an error unknown to this driver", "code 777"});
}

TEST_CASE("an application that started the driver first is noticed") {
  FakeGpu first;
  CHECK_FALSE(first.api->was_running());
  Result<std::unique_ptr<const DriverApi>> second = DriverApi::open(PURLIN_FAKE_DRIVER);
  REQUIRE(second.is_ok());
  CHECK((*second)->was_running());
}

TEST_CASE("calls outside the list are found by name and version") {
  FakeGpu gpu;
  CHECK(gpu.api->find("cuMulticastCreate", 12010) != nullptr);
  CHECK(gpu.api->find("cuMulticastCreate", 12000) == nullptr);
  CHECK(gpu.api->find("cuNoSuchCall", 12010) == nullptr);
}

}  // namespace
}  // namespace purlin
