#include "device/order_point.h"

#include <algorithm>
#include <utility>

#include "device/capture.h"
#include "device/private_stream.h"

namespace purlin {
namespace {

// A launch may pass two points.
std::recursive_mutex& graphs_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

Status about_event_node(const Status& added) {
  if (added.is_ok() || added.code() == PURLIN_OUT_OF_MEMORY) return added;
  return added.with_context(
      "a call was captured into a graph that takes no event nodes, most likely the body of a "
      "conditional node; capture calls outside such bodies");
}

}  // namespace

Result<OrderPoint> OrderPoint::create(std::shared_ptr<const CudaDevice> device) {
  const DriverApi& api = device->api();
  Result<PrivateStream> stream = PrivateStream::create(device);
  if (!stream) return stream.status();
  const ContextScope scope(*device);
  PURLIN_RETURN_IF_ERROR(scope.status());
  cu::Event event = nullptr;
  PURLIN_RETURN_IF_ERROR(api.event_create(&event, cu::kEventDisableTiming));
  OrderPoint point(std::move(device), event);
  // Recorded once, so that a graph whose wait comes before any launch finds a finished event.
  PURLIN_RETURN_IF_ERROR(api.event_record(event, stream->get()));
  return point;
}

OrderPoint::OrderPoint(OrderPoint&& other) noexcept
    : device_(std::move(other.device_)),
      event_(std::exchange(other.event_, nullptr)),
      passed_(other.passed_),
      ever_captured_(other.ever_captured_),
      stream_id_(other.stream_id_),
      uses_(other.uses_),
      captures_(other.captures_) {}

OrderPoint& OrderPoint::operator=(OrderPoint&& other) noexcept {
  if (this != &other) {
    destroy();
    device_ = std::move(other.device_);
    event_ = std::exchange(other.event_, nullptr);
    passed_ = other.passed_;
    ever_captured_ = other.ever_captured_;
    stream_id_ = other.stream_id_;
    uses_ = other.uses_;
    captures_ = other.captures_;
  }
  return *this;
}

OrderPoint::~OrderPoint() { destroy(); }

void OrderPoint::destroy() {
  if (event_ == nullptr) return;
  const ContextScope scope(*device_);
  if (scope.status().is_ok()) device_->api().raw().event_destroy(event_);
  event_ = nullptr;
}

OrderPoint::Capture* OrderPoint::find(uint64_t id) {
  const auto found = std::find_if(captures_.begin(), captures_.end(),
                                  [id](const Capture& capture) { return capture.id == id; });
  return found == captures_.end() ? nullptr : &*found;
}

// The slot for a new capture: a free one, or that of the capture unused for longest. Capture ids
// are never reused, so a slot of a capture that ended is merely stale.
OrderPoint::Capture& OrderPoint::take(uint64_t id) {
  Capture& slot =
      *std::min_element(captures_.begin(), captures_.end(),
                        [](const Capture& a, const Capture& b) { return a.used < b.used; });
  slot = Capture{};
  slot.id = id;
  return slot;
}

Result<OrderPoint::Passage> OrderPoint::enter(cu::Stream stream) {
  const DriverApi& api = device_->api();
  Result<CaptureInfo> info = capture_info(api, stream);
  if (!info) return info.status();
  Passage passage;
  passage.stream = stream;
  if (info->id != 0) {
    passage.capture = info->id;
    passage.graph = info->graph;
    passage.graphs = std::unique_lock(graphs_mutex());
    PURLIN_RETURN_IF_ERROR(enter_capture(passage, info->nodes, info->count));
    return passage;
  }
  bool wait = ever_captured_;
  if (passed_ && !wait) {
    unsigned long long id = 0;
    PURLIN_RETURN_IF_ERROR(api.stream_get_id(stream, &id));
    wait = id != stream_id_;
  }
  if (wait) {
    passage.joined = true;
    PURLIN_RETURN_IF_ERROR(api.stream_wait_event(stream, event_, 0));
  }
  return passage;
}

Status OrderPoint::enter_capture(Passage& passage, const cu::GraphNode* nodes, size_t count) {
  const DriverApi& api = device_->api();
  cu::GraphNode before = nullptr;
  if (const Capture* capture = find(passage.capture); capture != nullptr) {
    before = capture->last;
    if (count == 1 && nodes[0] == before) return {};
  } else {
    PURLIN_RETURN_IF_ERROR(about_event_node(
        api.graph_add_event_wait_node(&before, passage.graph, nullptr, 0, event_)));
  }
  passage.joined = true;
  if (std::find(nodes, nodes + count, before) != nodes + count) return {};
  return api.stream_update_capture_dependencies(passage.stream, &before, nullptr, 1,
                                                cu::kAddCaptureDependencies);
}

Status OrderPoint::leave(const Passage& passage, bool recorded) {
  const DriverApi& api = device_->api();
  if (passage.capture != 0) return leave_capture(passage);
  passed_ = true;
  PURLIN_RETURN_IF_ERROR(api.stream_get_id(passage.stream, &stream_id_));
  return recorded ? Status() : api.event_record(event_, passage.stream);
}

Status OrderPoint::leave_capture(const Passage& passage) {
  const DriverApi& api = device_->api();
  ever_captured_ = true;
  Result<CaptureInfo> info = capture_info(api, passage.stream);
  if (!info) return info.status();
  if (info->id != passage.capture || info->count != 1) {
    return {
        PURLIN_INTERNAL,
        "the captured stream does not end in the node of the call just launched; the capture was "
        "changed by another thread meanwhile. Capture a stream from one thread at a time"};
  }
  Capture* capture = find(passage.capture);
  if (capture == nullptr) capture = &take(passage.capture);
  capture->used = ++uses_;
  const cu::GraphNode before = std::exchange(capture->last, info->nodes[0]);
  if (capture->record == nullptr)
    return about_event_node(api.graph_add_event_record_node(&capture->record, passage.graph,
                                                            &capture->last, 1, event_));
  // A node of a graph that is being captured cannot be taken out, but its edges can be moved.
  PURLIN_RETURN_IF_ERROR(
      api.graph_add_dependencies(passage.graph, &capture->last, &capture->record, 1));
  return api.graph_remove_dependencies(passage.graph, &before, &capture->record, 1);
}

}  // namespace purlin
