// One kernel launch, described by value.
#pragma once

#include "device/loaded_program.h"

namespace purlin {

struct LaunchPlan {
  const LoadedProgram* program = nullptr;
  unsigned grid = 0;     // CTAs, one dimension
  unsigned threads = 0;  // of a CTA, at most the program's; 0: the program's
  // The kernel's parameters, one pointer each, as cuLaunchKernelEx reads them; read before launch
  // returns.
  void** parameters = nullptr;
  // The kernel may be scheduled before its predecessor in the stream ends. It must wait
  // (griddepcontrol.wait) before it reads or writes anything.
  bool programmatic = false;
  // Put the kernel into the remote memory-synchronization domain, so that its releases do not wait
  // for the application's own writes. Ignored where the device has one domain only.
  bool remote_domain = true;
};

// Enqueues the plan on `stream` without any ordering of its own. `started`, unless nullptr, is an
// event that completes once every CTA has begun; it must have been made without timing. Allocates
// nothing. PURLIN_CUDA_ERROR names kernel, grid and device.
Status launch(const LaunchPlan& plan, cu::Stream stream, cu::Event started = nullptr);

}  // namespace purlin
