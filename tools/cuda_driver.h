// The calls of the CUDA driver that the benchmark makes itself: memory, streams, events, graphs.
// Opened at run time, so the command works where there is no driver.
#pragma once

#include <cstddef>
#include <memory>

#include "tools/outcome.h"

namespace purlin::tools {

using CudaHandle = void*;                // context, stream, event, graph, executable graph
using CudaAddress = unsigned long long;  // CUdeviceptr

// Name here, name in the driver, parameters as of CUDA 12.4.
#define PURLIN_TOOLS_CUDA_CALLS(CALL)                                                              \
  CALL(init, cuInit, (unsigned flags))                                                             \
  CALL(device_count, cuDeviceGetCount, (int* count))                                               \
  CALL(device_get, cuDeviceGet, (int* device, int ordinal))                                        \
  CALL(device_name, cuDeviceGetName, (char* name, int bytes, int device))                          \
  CALL(context_retain, cuDevicePrimaryCtxRetain, (CudaHandle * context, int device))               \
  CALL(context_release, cuDevicePrimaryCtxRelease, (int device))                                   \
  CALL(context_set, cuCtxSetCurrent, (CudaHandle context))                                         \
  CALL(memory_alloc, cuMemAlloc, (CudaAddress * address, size_t bytes))                            \
  CALL(memory_free, cuMemFree, (CudaAddress address))                                              \
  CALL(copy_in, cuMemcpyHtoDAsync,                                                                 \
       (CudaAddress to, const void* from, size_t bytes, CudaHandle stream))                        \
  CALL(copy_out, cuMemcpyDtoHAsync, (void* to, CudaAddress from, size_t bytes, CudaHandle stream)) \
  CALL(stream_create, cuStreamCreate, (CudaHandle * stream, unsigned flags))                       \
  CALL(stream_destroy, cuStreamDestroy, (CudaHandle stream))                                       \
  CALL(stream_synchronize, cuStreamSynchronize, (CudaHandle stream))                               \
  CALL(capture_begin, cuStreamBeginCapture, (CudaHandle stream, int mode))                         \
  CALL(capture_end, cuStreamEndCapture, (CudaHandle stream, CudaHandle * graph))                   \
  CALL(graph_instantiate, cuGraphInstantiateWithFlags,                                             \
       (CudaHandle * executable, CudaHandle graph, unsigned long long flags))                      \
  CALL(graph_upload, cuGraphUpload, (CudaHandle executable, CudaHandle stream))                    \
  CALL(graph_launch, cuGraphLaunch, (CudaHandle executable, CudaHandle stream))                    \
  CALL(graph_exec_destroy, cuGraphExecDestroy, (CudaHandle executable))                            \
  CALL(graph_destroy, cuGraphDestroy, (CudaHandle graph))                                          \
  CALL(event_create, cuEventCreate, (CudaHandle * event, unsigned flags))                          \
  CALL(event_destroy, cuEventDestroy, (CudaHandle event))                                          \
  CALL(event_record, cuEventRecord, (CudaHandle event, CudaHandle stream))                         \
  CALL(event_elapsed, cuEventElapsedTime, (float* milliseconds, CudaHandle from, CudaHandle to))

class CudaDriver {
 public:
  // Opens libcuda.so.1, or what PURLIN_CUDA_DRIVER names, and starts it. An error says why there is
  // no usable driver or device. The driver stays open until the process ends.
  static Outcome<std::unique_ptr<const CudaDriver>> open();

  int devices() const { return devices_; }

  // Each call by the name in the list above; an error names the call and the driver's code.
#define CALL(name, symbol, parameters) int(*name) parameters = nullptr;
  PURLIN_TOOLS_CUDA_CALLS(CALL)
#undef CALL
  Done check(const char* what, int code) const;
  // Another call, as of CUDA 12.4; null if the driver has none of that name.
  void* find(const char* symbol) const;

 private:
  CudaDriver() = default;
  Done load();

  int (*get_address_)(const char*, void**, int, unsigned long long, int*) = nullptr;
  int (*error_name_)(int code, const char** name) = nullptr;
  int devices_ = 0;
};

}  // namespace purlin::tools
