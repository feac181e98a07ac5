// A CUDA driver that works on host memory, for tests: a shared object in place of libcuda.so.1.
//
// Device memory is host memory (virtual memory is memory files, so descriptors travel between
// processes as the real ones do); copies happen at once; launches are recorded, not executed,
// unless a test says what a kernel does. What real streams order, this driver records: each launch
// knows which launches ended, or began, before it. It is strict: calls without a context, access
// that was never granted, double release, unmapping in the wrong order, and calls that a capture
// forbids all fail.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "device/driver_types.h"

namespace purlin::test {

struct FakeSetup {
  int driver_version = 13000;
  int devices = 2;
  int multiprocessors = 132;
  bool nvlink = true;  // between all pairs; else PCIe
  bool peer_access = true;
  bool lost_writes = false;  // writes through a mapping for another device go nowhere
  bool posix_fd = true;
  bool mps = false;
  int sync_domains = 4;
  bool legacy_handles = true;
  uint64_t memory_bytes = uint64_t{1} << 30;  // limit of what mem_create and mem_alloc give out
  int multicast_slots = 128;  // objects that the switch holds at once, over all devices
  std::string hidden_call;                    // a call this driver does not have
  uint64_t parameter_bytes = 0;  // size of a kernel's first parameter, kept by captures
};

struct FakeLaunch {
  std::string kernel;
  int device = 0;
  unsigned grid = 0, threads = 0, shared_bytes = 0;
  bool programmatic = false;
  bool remote_domain = false;
  bool replayed = false;         // by a graph
  std::set<size_t> after_end;    // launches that had ended before this one may begin
  std::set<size_t> after_start;  // launches all of whose CTAs had begun
};

// Objects alive in the driver; a test compares before and after.
struct FakeLive {
  int handles = 0, mappings = 0, ranges = 0, plain = 0, pinned = 0, openings = 0;
  int multicast = 0;  // objects, each a slot of the switch
  int streams = 0, events = 0, libraries = 0, contexts = 0, graph_nodes = 0;
  bool operator==(const FakeLive&) const = default;
};

enum class FakeNode { kLaunch, kWait, kRecord };
struct FakeGraphNode {
  FakeNode kind;
  std::string kernel;           // kLaunch
  bool programmatic = false;    // kLaunch
  std::vector<size_t> depends;  // indices of nodes
};

// Thread-safe. Reached through dlsym("purlin_fake_control"), see open_fake_driver.
class FakeControl {
 public:
  virtual ~FakeControl() = default;
  // Forgets all devices, objects and records; nothing of an earlier setup may be used any more.
  virtual void reset(const FakeSetup& setup) = 0;
  // After `skip` calls of this name, the next one fails with `code`.
  virtual void fail(const std::string& call, cu::Code code, int skip = 0) = 0;
  virtual int calls(const std::string& call) = 0;
  virtual FakeLive live() = 0;
  virtual std::vector<FakeLaunch> launches() = 0;
  virtual std::vector<FakeGraphNode> graph(cu::Graph graph) = 0;
  // What kernels do: runs at each launch and replay, with the kernel's parameters as captured.
  virtual void on_launch(std::function<void(const FakeLaunch&, void** parameters)> kernel) = 0;
  // Runs before each call, on its thread and outside the driver's lock. Set while no other thread calls.
  virtual void before_calls(std::function<void(const std::string& call)> look) = 0;
  // Memory of kinds that Purlin never allocates itself, on device 0.
  virtual void* make_pool_memory(uint64_t bytes) = 0;
  virtual void* make_managed_memory(uint64_t bytes) = 0;
  virtual void free_special_memory(void* memory) = 0;
};

// The control of the driver in this file (PURLIN_FAKE_DRIVER of the build), reset to `setup`. Ends
// the test process with a message if the file cannot be opened.
FakeControl& open_fake_driver(const char* path, const FakeSetup& setup = {});

}  // namespace purlin::test
