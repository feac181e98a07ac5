#include "device/capture.h"

namespace purlin {

Result<CaptureInfo> capture_info(const DriverApi& api, cu::Stream stream) {
  CaptureInfo info;
  cu::CaptureStatus status = cu::kCaptureNone;
  const cu::GraphEdgeData* edges = nullptr;
  PURLIN_RETURN_IF_ERROR(api.stream_get_capture_info(stream, &status, &info.id, &info.graph,
                                                     &info.nodes, &edges, &info.count));
  switch (status) {
    case cu::kCaptureNone:
      return CaptureInfo{};
    case cu::kCaptureActive:
      return info;
    case cu::kCaptureInvalid:
      break;
  }
  return Status(
      PURLIN_INVALID_USAGE,
      "the stream's capture has been invalidated by an earlier call that a capture forbids "
      "(cuStreamGetCaptureInfo). End the capture and record it again without that call");
}

}  // namespace purlin
