// nvJitLink, opened when first needed: joins images to a cubin.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "program/image.h"
#include "program/libraries.h"
#include "status/status.h"

namespace purlin {

// One input of a link. `what` is LTO-IR as NVRTC makes it, a fatbin, or a relocatable cubin.
struct LinkInput {
  enum class What { kLtoIr, kFatbin, kCubin };
  What what = What::kFatbin;
  std::string name;
  std::span<const std::byte> bytes;
};

// Thread-safe: every link has a handle of its own. Every failure is PURLIN_LINK_ERROR with the
// call's name, the linker's log and what to do.
class NvJitLink {
 public:
  static Result<std::shared_ptr<const NvJitLink>> open(const LibrarySearch& search);
  CudaRelease release() const { return release_; }
  const std::string& path() const { return file_; }  // canonical
  Result<std::vector<std::byte>> link(std::span<const LinkInput> inputs,
                                      std::span<const std::string> options) const;
  // The same link as PTX text, for tests that look at the instructions before ptxas.
  Result<std::string> link_to_ptx(std::span<const LinkInput> inputs,
                                  std::span<const std::string> options) const;

 private:
  struct Calls;
  Result<std::vector<std::byte>> run(std::span<const LinkInput> inputs,
                                     std::span<const std::string> options, bool ptx) const;
  SharedLibrary library_;
  std::shared_ptr<const Calls> calls_;
  std::string file_;
  CudaRelease release_ = 0;
};

}  // namespace purlin
