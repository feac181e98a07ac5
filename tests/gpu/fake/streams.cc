// Streams, events and captures of the fake driver.
#include <algorithm>

#include "gpu/fake/state.h"

namespace purlin::test::fake {
namespace {

thread_local cu::CaptureMode thread_mode = cu::kCaptureGlobal;

// The next node of a capture, behind everything the stream's next work depends on.
Node& append(StreamState& stream, FakeNode kind) {
  auto node = std::make_unique<Node>();
  node->kind = kind;
  node->depends = stream.tail;
  stream.capture->nodes.push_back(std::move(node));
  stream.tail = {stream.capture->nodes.back().get()};
  return *stream.tail.front();
}

cu::Code usable(const StreamState* stream) {
  if (stream == nullptr) return cu::kInvalidContext;
  return stream->capture != nullptr && stream->capture->invalid ? cu::kCaptureInvalidated
                                                                : cu::kSuccess;
}

}  // namespace

StreamState* find_stream(cu::Stream stream) {
  if (stream == nullptr) {
    const int device = current_device();
    if (device < 0) return nullptr;
    StreamState& made = state().default_streams[device];
    made.device = device;
    made.id = 1;
    return &made;
  }
  const auto found = state().streams.find(stream);
  return found == state().streams.end() ? nullptr : found->second.get();
}

EventState* find_event(cu::Event event) {
  const auto found = state().events.find(event);
  return found == state().events.end() ? nullptr : found->second.get();
}

cu::Code forbid_in_capture() {
  if (thread_mode == cu::kCaptureRelaxed) return cu::kSuccess;
  cu::Code code = cu::kSuccess;
  for (const auto& [handle, graph] : state().graphs) {
    if (!graph->open || graph->mode != cu::kCaptureGlobal) continue;
    graph->invalid = true;
    code = cu::kCaptureUnsupported;
  }
  return code;
}

namespace impl {

cu::Code stream_create(cu::Stream* out, unsigned) {
  if (current_device() < 0) return cu::kInvalidContext;
  auto made = std::make_unique<StreamState>();
  made->device = current_device();
  made->id = ++state().next_id;
  *out = reinterpret_cast<cu::Stream>(made.get());
  state().streams[*out] = std::move(made);
  return cu::kSuccess;
}

cu::Code stream_destroy(cu::Stream stream) {
  return state().streams.erase(stream) == 1 ? cu::kSuccess : cu::kInvalidHandle;
}

cu::Code stream_query(cu::Stream stream) {
  return find_stream(stream) == nullptr ? cu::kInvalidHandle : forbid_in_capture();
}

cu::Code stream_synchronize(cu::Stream stream) {
  const StreamState* found = find_stream(stream);
  if (found == nullptr) return cu::kInvalidHandle;
  if (found->capture != nullptr) return cu::kCaptureUnsupported;
  return forbid_in_capture();
}

cu::Code stream_get_ctx(cu::Stream stream, cu::Context* out) {
  const StreamState* found = find_stream(stream);
  if (found == nullptr) return cu::kInvalidHandle;
  const cu::Code code = primary_ctx_retain(out, found->device);
  return code == cu::kSuccess ? primary_ctx_release(found->device) : code;
}

cu::Code stream_get_id(cu::Stream stream, unsigned long long* out) {
  const StreamState* found = find_stream(stream);
  if (found == nullptr) return cu::kInvalidHandle;
  *out = found->id;
  return cu::kSuccess;
}

cu::Code stream_wait_event(cu::Stream stream, cu::Event event, unsigned flags) {
  StreamState* found = find_stream(stream);
  EventState* awaited = find_event(event);
  if (found == nullptr || awaited == nullptr) return cu::kInvalidHandle;
  if (const cu::Code code = usable(found); code != cu::kSuccess) return code;
  if (flags == cu::kEventExternal) {
    if (found->capture == nullptr) return cu::kInvalidValue;
    append(*found, FakeNode::kWait).event = event;
    return cu::kSuccess;
  }
  if (awaited->capture != nullptr) {  // the stream joins the event's capture
    if (found->capture != nullptr && found->capture != awaited->capture) return cu::kInvalidValue;
    found->capture = awaited->capture;
    for (Node* node : awaited->tail) {
      if (std::find(found->tail.begin(), found->tail.end(), node) == found->tail.end()) {
        found->tail.push_back(node);
      }
    }
    return cu::kSuccess;
  }
  if (found->capture != nullptr) return cu::kCaptureUnsupported;  // isolation
  found->past.merge(awaited->past);
  return cu::kSuccess;
}

cu::Code stream_begin_capture(cu::Stream stream, cu::CaptureMode mode) {
  StreamState* found = find_stream(stream);
  if (stream == nullptr || found == nullptr || found->capture != nullptr) return cu::kInvalidValue;
  auto graph = std::make_unique<GraphState>();
  graph->capture = ++state().next_id;
  graph->open = true;
  graph->mode = mode;
  graph->origin = stream;
  found->capture = graph.get();
  found->tail.clear();
  state().graphs[reinterpret_cast<cu::Graph>(graph.get())] = std::move(graph);
  return cu::kSuccess;
}

cu::Code stream_end_capture(cu::Stream stream, cu::Graph* out) {
  StreamState* found = find_stream(stream);
  if (found == nullptr || found->capture == nullptr) return cu::kInvalidValue;
  GraphState* graph = found->capture;
  if (graph->origin != stream) return cu::kInvalidValue;
  graph->open = false;
  for (auto& [handle, each] : state().streams) {
    if (each->capture != graph) continue;
    each->capture = nullptr;
    each->tail.clear();
  }
  for (auto& [handle, each] : state().events) {
    if (each->capture == graph) each->capture = nullptr;
  }
  *out = graph->invalid ? nullptr : reinterpret_cast<cu::Graph>(graph);
  return graph->invalid ? cu::kCaptureInvalidated : cu::kSuccess;
}

cu::Code stream_get_capture_info(cu::Stream stream, cu::CaptureStatus* status, uint64_t* id,
                                 cu::Graph* graph, const cu::GraphNode** nodes,
                                 const cu::GraphEdgeData** edges, size_t* count) {
  const StreamState* found = find_stream(stream);
  if (found == nullptr) return cu::kInvalidHandle;
  *status = cu::kCaptureNone;
  if (found->capture == nullptr) return cu::kSuccess;
  *status = found->capture->invalid ? cu::kCaptureInvalid : cu::kCaptureActive;
  *id = found->capture->capture;
  *graph = reinterpret_cast<cu::Graph>(found->capture);
  *nodes = reinterpret_cast<const cu::GraphNode*>(found->tail.data());
  *edges = nullptr;
  *count = found->tail.size();
  return cu::kSuccess;
}

cu::Code stream_update_capture_dependencies(cu::Stream stream, cu::GraphNode* nodes,
                                            const cu::GraphEdgeData*, size_t count,
                                            unsigned flags) {
  StreamState* found = find_stream(stream);
  if (found == nullptr || found->capture == nullptr) return cu::kInvalidValue;
  if (flags == cu::kSetCaptureDependencies) found->tail.clear();
  for (size_t i = 0; i < count; ++i) {
    Node* node = reinterpret_cast<Node*>(nodes[i]);
    const auto& owned = found->capture->nodes;
    if (std::none_of(owned.begin(), owned.end(), [&](const auto& n) { return n.get() == node; })) {
      return cu::kInvalidValue;
    }
    found->tail.push_back(node);
  }
  return cu::kSuccess;
}

cu::Code thread_exchange_capture_mode(cu::CaptureMode* mode) {
  std::swap(*mode, thread_mode);
  return cu::kSuccess;
}

cu::Code event_create(cu::Event* out, unsigned) {
  if (current_device() < 0) return cu::kInvalidContext;
  auto made = std::make_unique<EventState>();
  *out = reinterpret_cast<cu::Event>(made.get());
  state().events[*out] = std::move(made);
  return cu::kSuccess;
}

cu::Code event_destroy(cu::Event event) {
  return state().events.erase(event) == 1 ? cu::kSuccess : cu::kInvalidHandle;
}

cu::Code event_record(cu::Event event, cu::Stream stream) {
  return event_record_with_flags(event, stream, 0);
}

cu::Code event_record_with_flags(cu::Event event, cu::Stream stream, unsigned flags) {
  StreamState* from = find_stream(stream);
  EventState* found = find_event(event);
  if (from == nullptr || found == nullptr) return cu::kInvalidHandle;
  if (const cu::Code code = usable(from); code != cu::kSuccess) return code;
  if (flags == cu::kEventExternal) {
    if (from->capture == nullptr) return cu::kInvalidValue;
    append(*from, FakeNode::kRecord).event = event;
    return cu::kSuccess;
  }
  found->recorded = true;
  found->capture = from->capture;
  found->tail = from->tail;
  found->past = from->past;
  return cu::kSuccess;
}

cu::Code event_query(cu::Event event) {
  const EventState* found = find_event(event);
  if (found == nullptr) return cu::kInvalidHandle;
  return found->capture != nullptr ? cu::kCaptureUnsupported : forbid_in_capture();
}

cu::Code event_synchronize(cu::Event event) { return event_query(event); }

cu::Code event_elapsed_time(float* milliseconds, cu::Event start, cu::Event end) {
  if (find_event(start) == nullptr || find_event(end) == nullptr) return cu::kInvalidHandle;
  *milliseconds = 0.001f;
  return cu::kSuccess;
}

}  // namespace impl
}  // namespace purlin::test::fake
