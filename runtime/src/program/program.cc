#include "program/program.h"

namespace purlin {

const char* origin_name(ProgramOrigin origin) {
  switch (origin) {
    case ProgramOrigin::kPlugin:
      return "plugin";
    case ProgramOrigin::kPrelinked:
      return "prelinked";
    case ProgramOrigin::kCache:
      return "cache";
    case ProgramOrigin::kLinked:
      return "linked";
  }
  return "unknown";
}

const KernelResources* Program::kernel(const std::string& kernel_name) const {
  for (const auto& kernel : kernels)
    if (kernel.name == kernel_name) return &kernel;
  return nullptr;
}

}  // namespace purlin
