#include <string>

#include <fmt/format.h>

#include "purlin/purlin.h"

#ifndef PURLIN_COMMIT
#define PURLIN_COMMIT "unknown"
#endif
#ifndef PURLIN_CUDA_TOOLKIT
#define PURLIN_CUDA_TOOLKIT "none"
#endif

extern "C" const char* purlin_version(void) {
  static const std::string text = fmt::format(
      "purlin {}.{}.{}, commit {}, compiler {}, CUDA toolkit {}, Atom ABI {}.{}, device ABI {}",
      PURLIN_VERSION_MAJOR, PURLIN_VERSION_MINOR, PURLIN_VERSION_PATCH, PURLIN_COMMIT,
      __VERSION__, PURLIN_CUDA_TOOLKIT, PURLIN_ATOM_ABI_MAJOR, PURLIN_ATOM_ABI_MINOR,
      PURLIN_ATOM_DEVICE_ABI);
  return text.c_str();
}
