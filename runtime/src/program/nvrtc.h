// NVRTC, opened when first needed: turns the source of the constants into LTO-IR.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "program/libraries.h"
#include "status/status.h"

namespace purlin {

// Thread-safe: NVRTC serializes where it must. Every failure is PURLIN_LINK_ERROR with the call's
// name, the compiler's log and what to do.
class Nvrtc {
 public:
  static Result<std::shared_ptr<const Nvrtc>> open(const LibrarySearch& search);
  CudaRelease release() const { return release_; }
  const std::string& path() const { return file_; }  // canonical
  // `name` stands for the file in the log. LTO-IR for compute_75, C++17, no headers.
  Result<std::vector<std::byte>> compile(const std::string& source, const std::string& name) const;

 private:
  struct Calls;
  SharedLibrary library_;
  std::shared_ptr<const Calls> calls_;
  std::string file_;
  CudaRelease release_ = 0;
};

}  // namespace purlin
