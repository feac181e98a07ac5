#include "program/toolbox.h"

namespace purlin {

Result<std::shared_ptr<const NvJitLink>> Toolbox::linker() {
  const std::lock_guard lock(mutex_);
  if (linker_ == nullptr) {
    auto opened = NvJitLink::open(search_);
    if (!opened) return opened.status();
    linker_ = *opened;
  }
  return linker_;
}

Result<std::shared_ptr<const Nvrtc>> Toolbox::compiler() {
  const std::lock_guard lock(mutex_);
  if (compiler_ == nullptr) {
    auto opened = Nvrtc::open(search_);
    if (!opened) return opened.status();
    compiler_ = *opened;
  }
  return compiler_;
}

}  // namespace purlin
