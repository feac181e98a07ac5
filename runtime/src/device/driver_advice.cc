#include "device/driver_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace purlin {
namespace {

// Major version of the toolkit, 0 when the build has none.
int toolkit_major(const std::string& toolkit) { return std::atoi(toolkit.c_str()); }

int needed_version(const std::string& toolkit, int oldest) {
  return std::max(oldest, toolkit_major(toolkit) * 1000);
}

// The driver branch that first serves a needed version; 0 for versions this table does not know.
int branch_of(int version) {
  switch (version) {
    case 12040:
      return 550;
    case 13000:
      return 580;
    default:
      return 0;
  }
}

}  // namespace

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string driver_requirement(const std::string& toolkit, int oldest) {
  const int needed = needed_version(toolkit, oldest);
  const int branch = branch_of(needed);
  std::string text = fmt::format("one that serves CUDA {} or newer", version_text(needed));
  if (branch != 0) text += fmt::format(", that is driver {} or newer", branch);
  if (toolkit_major(toolkit) * 1000 >= oldest) {
    text += fmt::format("; this build's device code was made with CUDA {}", toolkit);
  }
  return text;
}

Status check_driver_version(int version, const std::string& toolkit, int oldest) {
  if (version >= needed_version(toolkit, oldest)) return {};
  return {
      PURLIN_UNSUPPORTED,
      fmt::format("the NVIDIA driver is too old: it serves CUDA {}, and Purlin needs {}. Update "
                  "the driver, use a Purlin built with an older toolkit, or create the "
                  "communicator on the host device",
                  version_text(version), driver_requirement(toolkit, oldest))};
}

const char* advice(cu::Code code) {
  switch (code) {
    case cu::kInvalidValue:
      return "A pointer, size or stream given to Purlin does not fit the device; check that "
             "buffers "
             "and stream belong to the communicator's device and are still alive.";
    case cu::kOutOfMemory:
      return "Free device memory, or lower staging sizes in the policy.";
    case cu::kNotInitialized:
    case cu::kDeinitialized:
      return "The driver is not usable at this point of the process's life; destroy communicators "
             "before exit handlers run, and do not use them in a child made by fork.";
    case cu::kStubLibrary:
      return "The toolkit's stub libcuda was loaded; take the stubs folder out of LD_LIBRARY_PATH.";
    case cu::kNoDevice:
      return "No GPU is visible; check nvidia-smi and CUDA_VISIBLE_DEVICES, or create the "
             "communicator on the host device.";
    case cu::kInvalidDevice:
      return "The ordinal names no visible GPU; check CUDA_VISIBLE_DEVICES.";
    case cu::kInvalidImage:
    case cu::kNoBinaryForGpu:
      return "The program was made for another GPU or is damaged; clear Purlin's program cache and "
             "try again.";
    case cu::kInvalidContext:
    case cu::kInvalidHandle:
      return "A stream, event or context is not alive or belongs to another device.";
    case cu::kPeerAccessUnsupported:
      return "These two GPUs cannot reach each other's memory; see nvidia-smi topo -p2p.";
    case cu::kEccUncorrectable:
    case cu::kNvlinkUncorrectable:
      return "The hardware reports an uncorrectable error; see nvidia-smi -q and the kernel's log.";
    case cu::kIllegalAddress:
    case cu::kLaunchFailed:
      return "A kernel of this process, Purlin's or the application's, failed earlier; run it "
             "under "
             "compute-sanitizer. The process cannot use this GPU any more.";
    case cu::kNotPermitted:
      return "The operation is forbidden here, often because a stream is being captured; prepare "
             "programs and register buffers before the capture begins.";
    case cu::kNotSupported:
      return "This GPU or this system does not offer it; purlin explain says what is used instead.";
    case cu::kSystemNotReady:
      return "The system is not ready; check that nvidia-fabricmanager runs and nvidia-smi works.";
    case cu::kSystemDriverMismatch:
      return "The driver's kernel module and libcuda differ; reboot, or in a container use the "
             "host's libcuda.";
    case cu::kCaptureUnsupported:
    case cu::kCaptureInvalidated:
      return "The stream's capture is broken or forbids this; end the capture and record it again "
             "after every program it needs has been prepared.";
    default:
      return "See the driver's log (dmesg | grep NVRM) for the cause.";
  }
}

}  // namespace purlin
