// The state of the fake driver, behind one lock.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "gpu/fake_driver.h"

namespace purlin::test::fake {

// What has happened before a point of a stream.
struct Past {
  std::set<size_t> ended, started;
  void merge(const Past& other) {
    ended.insert(other.ended.begin(), other.ended.end());
    started.insert(other.started.begin(), other.started.end());
  }
};

struct Node {
  FakeNode kind = FakeNode::kLaunch;
  FakeLaunch launch;
  std::vector<std::vector<char>> parameters;
  cu::Event event = nullptr;
  std::vector<Node*> depends;
  cu::Graph graph = nullptr;
};

struct GraphState {
  uint64_t capture = 0;
  bool invalid = false;
  bool open = false;
  cu::CaptureMode mode = cu::kCaptureGlobal;
  cu::Stream origin = nullptr;
  std::vector<std::unique_ptr<Node>> nodes;
};

struct StreamState {
  int device = 0;
  uint64_t id = 0;
  Past past;
  GraphState* capture = nullptr;
  std::vector<Node*> tail;  // the capture's nodes that the next work depends on
};

struct EventState {
  Past past;
  bool recorded = false;
  GraphState* capture = nullptr;
  std::vector<Node*> tail;
};

struct Handle {
  int fd = -1;
  uint64_t bytes = 0;
  int references = 0;  // handles given out and mappings
  uint64_t block_id = 0;
  cu::MemAllocationProp prop = {};
};

struct Mapping {
  uint64_t bytes = 0;
  cu::MemHandle handle = 0;
  int access = -1;  // the device that was granted access
};

// What a switch would know of a multicast object. It has memory of its own, for want of a switch.
struct Multicast {
  unsigned devices = 0;      // that it is for
  uint64_t bytes = 0;
  int handles = 0;           // in all ranks
  std::multiset<int> added;  // devices
  std::map<int, uint64_t> bound;  // device -> bytes
};

struct Special {
  uint64_t bytes = 0;
  bool pool = false;
};

struct Plain {
  uint64_t bytes = 0;
  int fd = -1;
  int device = 0;
  uint64_t id = 0;
};

struct LibraryState {
  std::string image;
  std::map<std::string, std::unique_ptr<struct KernelState>> kernels;
};

struct KernelState {
  std::string name;
  int device = 0;
  int max_dynamic = 48 * 1024;
  int carveout = -1;  // the driver's choice
};

struct State {
  std::recursive_mutex mutex;
  FakeSetup setup;
  bool initialized = false;
  uint64_t next_id = 1;
  uint64_t allocated = 0;
  std::map<std::string, std::vector<std::pair<int, cu::Code>>> failures;
  std::map<std::string, int> calls;
  std::map<int, int> contexts;  // device -> references
  std::map<cu::MemHandle, Handle> handles;
  std::map<uint64_t, Multicast> multicast;  // by the memory file's number
  std::map<cu::DevicePtr, uint64_t> ranges;
  std::map<cu::DevicePtr, Mapping> mappings;
  std::map<cu::DevicePtr, Plain> plain;
  std::map<void*, uint64_t> pinned;
  std::map<void*, Special> special;
  std::map<cu::DevicePtr, uint64_t> openings;
  std::map<cu::Stream, std::unique_ptr<StreamState>> streams;
  std::map<int, StreamState> default_streams;
  std::map<cu::Event, std::unique_ptr<EventState>> events;
  std::map<cu::Library, std::unique_ptr<LibraryState>> libraries;
  std::map<cu::Graph, std::unique_ptr<GraphState>> graphs;
  std::map<cu::GraphExec, cu::Graph> executables;
  std::vector<FakeLaunch> launches;
  std::function<void(const FakeLaunch&, void**)> kernel;
  std::function<void(const std::string&)> before;  // not under the lock
};

State& state();

// The device of the calling thread's context, -1 without one.
int current_device();
// nullptr for a stream that does not exist or without a context.
StreamState* find_stream(cu::Stream stream);
EventState* find_event(cu::Event event);
// For calls that a capture forbids: success, or the error, with the capture invalidated.
cu::Code forbid_in_capture();
// A new handle of a memory file, which it takes over; and one reference less.
cu::MemHandle adopt(int fd, uint64_t bytes, const cu::MemAllocationProp& prop);
void drop(cu::MemHandle handle);
// The number of a memory file, the same for all its descriptors.
uint64_t file_number(int fd);
// multicast.cc: the call of this name, or nullptr.
void* multicast_call(const char* symbol);
// The gate that each call passes: counted, and failed where the test says so.
cu::Code gate(const char* symbol);
// Records a launch (its past set by the caller) and runs the test's kernel.
size_t run_launch(FakeLaunch launch, void** parameters);

// driver_calls.inc, implemented.
namespace impl {
#define PURLIN_DRIVER_CALL(name, symbol, version, parameters, names) cu::Code name parameters;
#include "device/driver_calls.inc"
#undef PURLIN_DRIVER_CALL
}  // namespace impl

}  // namespace purlin::test::fake
