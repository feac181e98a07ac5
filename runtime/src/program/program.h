// A finished program: machine code for one device, ready for cuLibraryLoadData.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "program/digest.h"
#include "program/image.h"

namespace purlin {

// What a kernel asks of the device, read from the cubin.
struct KernelResources {
  std::string name;
  uint32_t registers = 0;     // a thread
  uint32_t shared_bytes = 0;  // static, a CTA
  uint32_t local_bytes = 0;   // stack frame of the kernel, a thread; 0 in every hot kernel
  uint32_t code_bytes = 0;
};

// Where a program came from.
enum class ProgramOrigin { kPlugin, kPrelinked, kCache, kLinked };
const char* origin_name(ProgramOrigin origin);

// Immutable once made, hence safe to read from any thread.
struct Program {
  std::string name;
  Digest digest{};         // of its inputs
  CudaRelease linker = 0;  // that made it
  ProgramOrigin origin = ProgramOrigin::kLinked;
  std::vector<std::byte> cubin;
  std::vector<KernelResources> kernels;

  // nullptr if there is none of that name.
  const KernelResources* kernel(const std::string& kernel_name) const;
};
using ProgramHandle = std::shared_ptr<const Program>;

}  // namespace purlin
