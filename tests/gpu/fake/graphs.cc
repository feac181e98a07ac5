// Graphs of the fake driver: nodes are kept in the order they were added, which is a topological
// one.
#include <algorithm>

#include "gpu/fake/state.h"

namespace purlin::test::fake::impl {
namespace {

GraphState* graph_of(cu::Graph graph) {
  const auto found = state().graphs.find(graph);
  return found == state().graphs.end() ? nullptr : found->second.get();
}

auto node_in(GraphState& graph, cu::GraphNode handle) {
  return std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const auto& node) {
    return reinterpret_cast<cu::GraphNode>(node.get()) == handle;
  });
}

cu::Code add(cu::GraphNode* out, cu::Graph handle, const cu::GraphNode* dependencies, size_t count,
             cu::Event event, FakeNode kind) {
  GraphState* graph = graph_of(handle);
  if (graph == nullptr || find_event(event) == nullptr) return cu::kInvalidHandle;
  auto node = std::make_unique<Node>();
  node->kind = kind;
  node->event = event;
  for (size_t i = 0; i < count; ++i) {
    node->depends.push_back(reinterpret_cast<Node*>(dependencies[i]));
  }
  *out = reinterpret_cast<cu::GraphNode>(node.get());
  graph->nodes.push_back(std::move(node));
  return cu::kSuccess;
}

// Replays one node behind `past` and returns what has happened once it ends.
Past replay(Node& node, Past past) {
  switch (node.kind) {
    case FakeNode::kWait:
      past.merge(find_event(node.event)->past);
      break;
    case FakeNode::kRecord:
      find_event(node.event)->past = past;
      find_event(node.event)->recorded = true;
      break;
    case FakeNode::kLaunch: {
      FakeLaunch launch = node.launch;
      launch.replayed = true;
      launch.after_end = past.ended;
      launch.after_start = past.started;
      std::vector<void*> parameters;
      for (std::vector<char>& each : node.parameters) parameters.push_back(each.data());
      const size_t id = run_launch(launch, parameters.data());
      past.ended.insert(id);
      past.started.insert(id);
    }
  }
  return past;
}

}  // namespace

cu::Code graph_instantiate(cu::GraphExec* out, cu::Graph graph, unsigned long long) {
  if (graph_of(graph) == nullptr) return cu::kInvalidHandle;
  *out = reinterpret_cast<cu::GraphExec>(0x6000 + state().next_id++);
  state().executables[*out] = graph;
  return cu::kSuccess;
}

cu::Code graph_upload(cu::GraphExec executable, cu::Stream stream) {
  const bool known = state().executables.contains(executable) && find_stream(stream) != nullptr;
  return known ? cu::kSuccess : cu::kInvalidHandle;
}

cu::Code graph_launch(cu::GraphExec executable, cu::Stream stream) {
  const auto found = state().executables.find(executable);
  StreamState* where = find_stream(stream);
  if (found == state().executables.end() || where == nullptr) return cu::kInvalidHandle;
  GraphState* graph = graph_of(found->second);
  if (graph == nullptr) return cu::kInvalidHandle;
  const Past before = where->past;
  std::map<const Node*, Past> ends;
  for (const auto& node : graph->nodes) {
    Past past = before;
    for (const Node* each : node->depends) past.merge(ends.at(each));
    ends[node.get()] = replay(*node, std::move(past));
  }
  for (const auto& [node, past] : ends) where->past.merge(past);
  return cu::kSuccess;
}

cu::Code graph_exec_destroy(cu::GraphExec executable) {
  return state().executables.erase(executable) == 1 ? cu::kSuccess : cu::kInvalidHandle;
}

cu::Code graph_destroy(cu::Graph graph) {
  return state().graphs.erase(graph) == 1 ? cu::kSuccess : cu::kInvalidHandle;
}

cu::Code graph_add_event_record_node(cu::GraphNode* out, cu::Graph graph,
                                     const cu::GraphNode* dependencies, size_t count,
                                     cu::Event event) {
  return add(out, graph, dependencies, count, event, FakeNode::kRecord);
}

cu::Code graph_add_event_wait_node(cu::GraphNode* out, cu::Graph graph,
                                   const cu::GraphNode* dependencies, size_t count,
                                   cu::Event event) {
  return add(out, graph, dependencies, count, event, FakeNode::kWait);
}

cu::Code graph_add_dependencies(cu::Graph handle, const cu::GraphNode* from,
                                const cu::GraphNode* to, size_t count) {
  GraphState* graph = graph_of(handle);
  if (graph == nullptr) return cu::kInvalidHandle;
  for (size_t i = 0; i < count; ++i) {
    const auto found = node_in(*graph, to[i]);
    if (found == graph->nodes.end() || node_in(*graph, from[i]) == graph->nodes.end())
      return cu::kInvalidHandle;
    (*found)->depends.push_back(reinterpret_cast<Node*>(from[i]));
    std::rotate(found, found + 1, graph->nodes.end());  // behind what it depends on now
  }
  return cu::kSuccess;
}

cu::Code graph_remove_dependencies(cu::Graph handle, const cu::GraphNode* from,
                                   const cu::GraphNode* to, size_t count) {
  GraphState* graph = graph_of(handle);
  if (graph == nullptr) return cu::kInvalidHandle;
  for (size_t i = 0; i < count; ++i) {
    const auto found = node_in(*graph, to[i]);
    if (found == graph->nodes.end() ||
        std::erase((*found)->depends, reinterpret_cast<Node*>(from[i])) != 1)
      return cu::kInvalidHandle;
  }
  return cu::kSuccess;
}

}  // namespace purlin::test::fake::impl
