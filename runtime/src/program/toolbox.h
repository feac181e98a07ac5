// The two libraries of the toolkit, opened when first asked for and shared from then on.
#pragma once

#include <memory>
#include <mutex>

#include "program/libraries.h"
#include "program/nvjitlink.h"
#include "program/nvrtc.h"

namespace purlin {

// Thread-safe. A failure to open is not remembered.
class Toolbox {
 public:
  explicit Toolbox(LibrarySearch search) : search_(std::move(search)) {}
  Result<std::shared_ptr<const NvJitLink>> linker();
  Result<std::shared_ptr<const Nvrtc>> compiler();
  const LibrarySearch& search() const { return search_; }

 private:
  const LibrarySearch search_;
  std::mutex mutex_;
  std::shared_ptr<const NvJitLink> linker_;
  std::shared_ptr<const Nvrtc> compiler_;
};

}  // namespace purlin
