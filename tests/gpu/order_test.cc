// Call order on a real GPU: eager, captured, replayed and mixed.
#include <dlfcn.h>

#include <random>

#include "device/call_order.h"
#include "device/private_stream.h"
#include "gpu/real_gpu.h"
#include "memory/device_memory.h"

namespace purlin {
namespace {

using test::real_gpu;
using test::RealGpu;

// Kernels of one communicator that log when they begin and end.
class Logger {
 public:
  explicit Logger(const RealGpu& gpu)
      : gpu_(gpu),
        program_(gpu.program("log_interval")),
        memory_(std::move(DeviceMemory::create(gpu.device, 1 << 20, "log")).value()) {
    BudgetRequest request;
    request.communicator = reinterpret_cast<uint64_t>(this);
    request.ctas = 1;
    claim_ = std::move(claim_budget(*gpu.device, request)).value();
    order_ = std::move(CallOrder::create(gpu.device, *claim_)).value();
  }

  void call(cu::Stream stream, uint64_t id, bool programmatic) {
    cu::DevicePtr log = memory_.address() + 64;
    cu::DevicePtr cursor = memory_.address();
    long long cycles = 20000;
    void* parameters[] = {&log, &cursor, &id, &cycles};
    LaunchPlan plan;
    plan.program = program_.get();
    plan.grid = 1;
    plan.parameters = parameters;
    plan.programmatic = programmatic;
    const Status status = order_->launch(plan, stream);
    REQUIRE_MESSAGE(status.is_ok(), status.message());
  }

  // The ids in the order that they ran; fails if two overlapped.
  std::vector<uint64_t> ran() {
    REQUIRE(order_->synchronize().is_ok());
    const ContextScope scope(*gpu_.device);
    REQUIRE(gpu_.api->ctx_synchronize().is_ok());
    PrivateStream stream = std::move(PrivateStream::create(gpu_.device)).value();
    uint64_t count = 0;
    REQUIRE(gpu_.api->memcpy_dtoh_async(&count, memory_.address(), 8, stream.get()).is_ok());
    REQUIRE(stream.synchronize().is_ok());
    std::vector<uint64_t> log(count);
    if (count > 0) {
      REQUIRE(
          gpu_.api->memcpy_dtoh_async(log.data(), memory_.address() + 64, count * 8, stream.get())
              .is_ok());
      REQUIRE(stream.synchronize().is_ok());
    }
    std::vector<uint64_t> ids;
    REQUIRE(count % 2 == 0);
    for (size_t i = 0; i < log.size(); i += 2) {
      REQUIRE(log[i] % 2 == 0);
      REQUIRE(log[i + 1] == log[i] + 1);
      ids.push_back(log[i] / 2);
    }
    return ids;
  }

 private:
  const RealGpu& gpu_;
  std::shared_ptr<const LoadedProgram> program_;
  DeviceMemory memory_;
  std::unique_ptr<BudgetClaim> claim_;
  std::unique_ptr<CallOrder> order_;
};

TEST_CASE("calls on several streams run one after the other") {
  const std::optional<RealGpu> gpu = real_gpu();
  if (!gpu) return;
  Logger logger(*gpu);
  std::vector<PrivateStream> streams;
  for (int i = 0; i < 3; ++i)
    streams.push_back(std::move(PrivateStream::create(gpu->device)).value());
  std::vector<uint64_t> expected;
  for (uint64_t id = 0; id < 60; ++id) {
    logger.call(streams[id % streams.size()].get(), id, false);
    expected.push_back(id);
  }
  CHECK(logger.ran() == expected);
}

TEST_CASE("graphs and eager calls, mixed over streams, run in call order") {
  const std::optional<RealGpu> gpu = real_gpu();
  if (!gpu) return;
  Logger logger(*gpu);
  std::mt19937_64 random(test::seed() ^ 0x677075);
  std::vector<PrivateStream> streams;
  for (int i = 0; i < 3; ++i)
    streams.push_back(std::move(PrivateStream::create(gpu->device)).value());
  struct Recorded {
    cu::Graph graph = nullptr;
    cu::GraphExec executable = nullptr;
    std::vector<uint64_t> ids;
  };
  std::vector<Recorded> graphs;
  std::vector<uint64_t> expected;
  uint64_t next = 0;
  const ContextScope scope(*gpu->device);
  for (int step = 0; step < (test::is_full() ? 2000 : 300); ++step) {
    const cu::Stream stream = streams[random() % streams.size()].get();
    const uint64_t choice = random() % 8;
    if (choice == 0 && graphs.size() < 10) {
      Recorded made;
      REQUIRE(gpu->api->stream_begin_capture(stream, cu::kCaptureThreadLocal).is_ok());
      for (uint64_t i = 0; i < 1 + random() % 4; ++i) {
        made.ids.push_back(next);
        logger.call(stream, next++, false);
      }
      REQUIRE(gpu->api->stream_end_capture(stream, &made.graph).is_ok());
      REQUIRE(gpu->api->graph_instantiate(&made.executable, made.graph, 0).is_ok());
      graphs.push_back(made);
    } else if (choice < 4 && !graphs.empty()) {
      const Recorded& chosen = graphs[random() % graphs.size()];
      REQUIRE(gpu->api->graph_launch(chosen.executable, stream).is_ok());
      expected.insert(expected.end(), chosen.ids.begin(), chosen.ids.end());
    } else {
      expected.push_back(next);
      logger.call(stream, next++, false);
    }
    test::count_cases(1);
  }
  CHECK(logger.ran() == expected);
  for (const Recorded& each : graphs) {
    CHECK(gpu->api->graph_exec_destroy(each.executable).is_ok());
    CHECK(gpu->api->graph_destroy(each.graph).is_ok());
  }
}

TEST_CASE("a graph of many calls holds one wait and one record") {
  const std::optional<RealGpu> gpu = real_gpu();
  if (!gpu) return;
  Logger logger(*gpu);
  const PrivateStream stream = std::move(PrivateStream::create(gpu->device)).value();
  const ContextScope scope(*gpu->device);
  cu::Graph graph = nullptr;
  REQUIRE(gpu->api->stream_begin_capture(stream.get(), cu::kCaptureThreadLocal).is_ok());
  for (uint64_t id = 0; id < 20; ++id) logger.call(stream.get(), id, true);
  REQUIRE(gpu->api->stream_end_capture(stream.get(), &graph).is_ok());
  // The library itself never asks a graph for its nodes.
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  REQUIRE((driver != nullptr));
  const auto nodes_of = reinterpret_cast<cu::Code (*)(cu::Graph, cu::GraphNode*, size_t*)>(
      dlsym(driver, "cuGraphGetNodes"));
  REQUIRE((nodes_of != nullptr));
  size_t count = 0;
  CHECK(nodes_of(graph, nullptr, &count) == cu::kSuccess);
  CHECK(count == 22);
  CHECK(gpu->api->graph_destroy(graph).is_ok());
  dlclose(driver);
}

}  // namespace
}  // namespace purlin
