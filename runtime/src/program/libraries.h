// Where NVRTC and nvJitLink are looked for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "program/image.h"
#include "status/status.h"

namespace purlin {

// CUDA major version whose libraries serve: that of the compiler that made SNAC's image.
uint32_t toolkit_major();

struct LibrarySearch {
  // Folders asked in order; an empty string means the loader's own search (LD_LIBRARY_PATH, cache).
  std::vector<std::string> folders;
  bool operator==(const LibrarySearch&) const = default;
};

// The loader's own search, $CUDA_HOME/lib64, $CUDA_PATH/lib64, /usr/local/cuda/lib64. Environment
// variables are ignored in a privileged process (AT_SECURE).
LibrarySearch default_library_search();

// A shared object opened with RTLD_NOW | RTLD_LOCAL and never closed: both libraries keep threads
// and thread-local state.
class SharedLibrary {
 public:
  // Tries `soname` in each folder. PURLIN_LINK_ERROR lists every place with its reason.
  static Result<SharedLibrary> open(const std::string& soname, const LibrarySearch& search);
  // nullptr if the library has no such symbol.
  void* symbol(const char* name) const;
  const std::string& path() const { return path_; }  // as it was opened
  // Canonical path of the loaded file that holds `address`; empty if there is none.
  static std::string file_of(const void* address);

 private:
  void* handle_ = nullptr;
  std::string path_;
};

}  // namespace purlin
