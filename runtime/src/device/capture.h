// What a stream is capturing.
#pragma once

#include "device/driver_api.h"

namespace purlin {

struct CaptureInfo {
  uint64_t id = 0;  // of the capture, unique in the process; 0: the stream is not capturing
  cu::Graph graph = nullptr;
  const cu::GraphNode* nodes = nullptr;  // the nodes that the stream's next work will depend on;
  size_t count = 0;                      // valid until the stream's next call
};

// PURLIN_INVALID_USAGE: the stream's capture has been invalidated.
Result<CaptureInfo> capture_info(const DriverApi& api, cu::Stream stream);

}  // namespace purlin
