// Texts about the driver: which one is needed, and what to do after an error of it. Pure functions.
#pragma once

#include <string>

#include "device/driver_types.h"
#include "status/status.h"

namespace purlin {

// "13.0" for 13000.
std::string version_text(int version);

// "CUDA 13.0 or newer: NVIDIA driver 580 or newer". `toolkit` is the "major.minor" that made this
// build's device code, "" for a build without CUDA; `oldest` as DriverApi::kOldestVersion. Device
// code runs on any driver of its toolkit's major version or newer.
std::string driver_requirement(const std::string& toolkit, int oldest);

// PURLIN_UNSUPPORTED when a driver that serves CUDA `version` does not meet that requirement.
Status check_driver_version(int version, const std::string& toolkit, int oldest);

// What to do about an error of the driver, one or two sentences.
const char* advice(cu::Code code);

}  // namespace purlin
