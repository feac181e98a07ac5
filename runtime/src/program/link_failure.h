// The words for what can go wrong in a link: the linker's own are codes and short logs.
#pragma once

#include <string>

#include "program/image.h"
#include "status/status.h"

namespace purlin {

// Values of nvJitLink.h that are passed or met; a test compares them with the toolkit's.
inline constexpr int kNvJitLinkInputCubin = 1;
inline constexpr int kNvJitLinkInputLtoIr = 3;
inline constexpr int kNvJitLinkInputFatbin = 4;
inline constexpr int kNvJitLinkUnsupportedArch = 17;
inline constexpr int kNvJitLinkUnrecognizedArch = 16;

struct LinkFailure {
  const char* call;     // "nvJitLinkComplete"
  int code;             // of nvJitLinkResult
  std::string library;  // path
  CudaRelease release;
  std::string about;  // the input, or the options
  std::string log;
};

// PURLIN_LINK_ERROR: the call, the code's name, the log, what it probably means and what to do.
Status link_failure(const LinkFailure& failure);

// Name of an nvJitLinkResult, "NVJITLINK_ERROR_INVALID_INPUT"; never null.
const char* nvjitlink_result_name(int code);

// What an unresolved symbol means: a constant the program was not given, an image of another device
// ABI, or a part that no image has.
std::string explain_unresolved(const std::string& symbol);

// Whether a linker of release `linker` may link code that a compiler of release `compiler` made:
// same major, at least its minor. PURLIN_LINK_ERROR names both, `what` was compiled, the linker's
// `path` and the remedy. A compiler that is not known (0) passes.
Status check_linker(CudaRelease linker, const std::string& path, CudaRelease compiler,
                    const std::string& what);

}  // namespace purlin
