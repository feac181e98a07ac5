// The test's side of the fake driver.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "gpu/fake/state.h"

namespace purlin::test::fake {

State& state() {
  static State* const made = new State();
  return *made;
}

namespace {

class Control final : public FakeControl {
 public:
  void reset(const FakeSetup& setup) override {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    for (const auto& [address, mapping] : s.mappings) ::close(s.handles[mapping.handle].fd);
    for (const auto& [address, bytes] : s.ranges) ::munmap(reinterpret_cast<void*>(address), bytes);
    for (const auto& [address, plain] : s.plain) {
      ::munmap(reinterpret_cast<void*>(address), plain.bytes);
      ::close(plain.fd);
    }
    for (const auto& [address, bytes] : s.pinned) std::free(address);
    s.setup = setup;
    s.initialized = false;
    s.allocated = 0;
    s.failures.clear();
    s.calls.clear();
    s.contexts.clear();
    s.handles.clear();
    s.ranges.clear();
    s.mappings.clear();
    s.plain.clear();
    s.pinned.clear();
    s.openings.clear();
    s.streams.clear();
    s.default_streams.clear();
    s.events.clear();
    s.libraries.clear();
    s.executables.clear();
    s.graphs.clear();
    s.launches.clear();
    s.kernel = nullptr;
    s.before = nullptr;
  }

  void fail(const std::string& call, cu::Code code, int skip) override {
    const std::lock_guard lock(state().mutex);
    state().failures[call].emplace_back(skip, code);
  }

  int calls(const std::string& call) override {
    const std::lock_guard lock(state().mutex);
    return state().calls[call];
  }

  FakeLive live() override {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    FakeLive live;
    live.handles = static_cast<int>(s.handles.size());
    live.mappings = static_cast<int>(s.mappings.size());
    live.ranges = static_cast<int>(s.ranges.size());
    live.plain = static_cast<int>(s.plain.size());
    live.multicast = static_cast<int>(s.multicast.size());
    live.pinned = static_cast<int>(s.pinned.size());
    live.openings = static_cast<int>(s.openings.size());
    live.streams = static_cast<int>(s.streams.size());
    live.events = static_cast<int>(s.events.size());
    live.libraries = static_cast<int>(s.libraries.size());
    for (const auto& [device, references] : s.contexts) live.contexts += references;
    for (const auto& [handle, graph] : s.graphs) {
      live.graph_nodes += static_cast<int>(graph->nodes.size());
    }
    return live;
  }

  std::vector<FakeLaunch> launches() override {
    const std::lock_guard lock(state().mutex);
    return state().launches;
  }

  std::vector<FakeGraphNode> graph(cu::Graph handle) override {
    const std::lock_guard lock(state().mutex);
    const GraphState& graph = *state().graphs.at(handle);
    std::vector<FakeGraphNode> nodes;
    for (const auto& node : graph.nodes) {
      FakeGraphNode seen{node->kind, node->launch.kernel, node->launch.programmatic, {}};
      for (const Node* before : node->depends) {
        const auto found = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                        [&](const auto& each) { return each.get() == before; });
        seen.depends.push_back(static_cast<size_t>(found - graph.nodes.begin()));
      }
      nodes.push_back(std::move(seen));
    }
    return nodes;
  }

  void before_calls(std::function<void(const std::string&)> look) override {
    state().before = std::move(look);
  }

  void on_launch(std::function<void(const FakeLaunch&, void**)> kernel) override {
    const std::lock_guard lock(state().mutex);
    state().kernel = std::move(kernel);
  }

  void* make_pool_memory(uint64_t bytes) override { return make(bytes, true); }
  void* make_managed_memory(uint64_t bytes) override { return make(bytes, false); }
  void free_special_memory(void* memory) override {
    const std::lock_guard lock(state().mutex);
    state().special.erase(memory);
    std::free(memory);
  }

 private:
  void* make(uint64_t bytes, bool pool) {
    const std::lock_guard lock(state().mutex);
    void* const memory = std::calloc(1, bytes);
    state().special[memory] = {bytes, pool};
    return memory;
  }
};

}  // namespace
}  // namespace purlin::test::fake

extern "C" __attribute__((visibility("default"))) purlin::test::FakeControl* purlin_fake_control() {
  static purlin::test::fake::Control control;
  return &control;
}
