// A point that launches from many streams and graphs pass one after the other.
#pragma once

#include <array>
#include <memory>
#include <mutex>

#include "device/context_scope.h"

namespace purlin {

// Orders launches: each one passed between `enter` and `leave` runs after the one before, whether
// eager on any stream, captured into the same graph, or replayed from different graphs.
//
//   eager, same stream as before, nothing ever captured   the stream's own order; no driver call
//   eager otherwise                                        waits for the point's event
//   captured, first in this capture                        a node waiting for the event heads the
//   call captured, later in this capture                        an edge from the previous call's
//   node
//
// After an eager launch the event is recorded; in a capture one record node follows the last call
// and moves along with it, so that a graph of many calls holds one wait and one record.
// Both events and table are made in advance: nothing is allocated in a captured region.
// The caller holds one lock around enter, launch and leave. Two communicators may capture into one
// graph, which CUDA does not guard: a passage in a capture holds a lock of the whole process, taken
// after any of the caller's. A thread may hold several passages. Movable, destroyed after all launches
// and graphs have ended.
class OrderPoint {
 public:
  static Result<OrderPoint> create(std::shared_ptr<const CudaDevice> device);
  OrderPoint(OrderPoint&& other) noexcept;
  OrderPoint& operator=(OrderPoint&& other) noexcept;
  ~OrderPoint();

  // What enter found; handed to leave.
  struct Passage {
    cu::Stream stream = nullptr;
    uint64_t capture = 0;  // 0: eager
    cu::Graph graph = nullptr;
    // True if something other than the stream's own order precedes the launch; it must then not be
    // launched with programmatic serialization.
    bool joined = false;
    // Of a captured launch: while it is held no other call of this process changes a graph.
    std::unique_lock<std::recursive_mutex> graphs;
  };
  // Makes the next launch on `stream` wait for the one that passed before.
  // PURLIN_INVALID_USAGE: the stream's capture has been invalidated. A graph that takes no event nodes
  // is an error of the driver with a text that says so.
  Result<Passage> enter(cu::Stream stream);
  // After the launch has been enqueued. With `recorded`, an eager launch has recorded the point's
  // event itself (a start event); it is not recorded again.
  Status leave(const Passage& passage, bool recorded = false);

  cu::Event event() const { return event_; }

 private:
  struct Capture {
    uint64_t id = 0;
    uint64_t used = 0;
    cu::GraphNode last = nullptr;
    cu::GraphNode record = nullptr;
  };
  static constexpr size_t kCaptures = 64;

  OrderPoint(std::shared_ptr<const CudaDevice> device, cu::Event event)
      : device_(std::move(device)), event_(event) {}
  Capture* find(uint64_t id);
  Capture& take(uint64_t id);
  Status enter_capture(Passage& passage, const cu::GraphNode* nodes, size_t count);
  Status leave_capture(const Passage& passage);
  void destroy();

  std::shared_ptr<const CudaDevice> device_;
  cu::Event event_ = nullptr;
  bool passed_ = false;         // an eager launch has passed
  bool ever_captured_ = false;  // a graph may replay at any time
  unsigned long long stream_id_ = 0;
  uint64_t uses_ = 0;
  std::array<Capture, kCaptures> captures_ = {};
};

}  // namespace purlin
