#include "device/call_order.h"

#include <chrono>
#include <map>
#include <random>
#include <thread>

#include "gpu/fake_gpu.h"
#include "level.h"

namespace purlin {
namespace {

using test::check_refusal;
using test::FakeGpu;
using test::FakeLaunch;
using test::FakeNode;

// A communicator's launches on one device.
struct Caller {
  Caller(FakeGpu& gpu, std::shared_ptr<const CudaDevice> where, uint64_t communicator,
         unsigned ctas = 16)
      : device(std::move(where)),
        program(gpu.program(device, "snac" + std::to_string(communicator))) {
    BudgetRequest request;
    request.communicator = communicator;
    request.ctas = ctas;
    request.name = "c" + std::to_string(communicator);
    claim = std::move(claim_budget(*device, request)).value();
    order = std::move(CallOrder::create(device, *claim)).value();
    plan.program = program.get();
    plan.grid = ctas;
  }
  void call(cu::Stream stream, bool programmatic = false) {
    plan.programmatic = programmatic;
    const Status status = order->launch(plan, stream);
    REQUIRE_MESSAGE(status.is_ok(), status.message());
  }
  std::shared_ptr<const CudaDevice> device;
  std::shared_ptr<const LoadedProgram> program;
  std::unique_ptr<BudgetClaim> claim;
  std::unique_ptr<CallOrder> order;
  LaunchPlan plan;
};

// A graph made of what `record` captures on `stream`.
template <class Record>
cu::Graph capture(FakeGpu& gpu, cu::Stream stream, Record record) {
  REQUIRE(gpu.api->stream_begin_capture(stream, cu::kCaptureGlobal).is_ok());
  record();
  cu::Graph graph = nullptr;
  REQUIRE(gpu.api->stream_end_capture(stream, &graph).is_ok());
  return graph;
}

cu::GraphExec instantiate(FakeGpu& gpu, cu::Graph graph) {
  cu::GraphExec made = nullptr;
  REQUIRE(gpu.api->graph_instantiate(&made, graph, 0).is_ok());
  return made;
}

// Every launch of a kernel runs after all earlier ones of the same kernel.
void check_call_order(const std::vector<FakeLaunch>& launches) {
  std::map<std::string, std::vector<size_t>> earlier;
  for (size_t i = 0; i < launches.size(); ++i) {
    for (const size_t before : earlier[launches[i].kernel]) {
      CHECK_MESSAGE(launches[i].after_end.contains(before), "launch ", i, " may overlap ", before);
    }
    earlier[launches[i].kernel].push_back(i);
  }
}

TEST_CASE("calls on one stream need no event") {
  FakeGpu gpu;
  Caller caller(gpu, gpu.device(), 1);
  const cu::Stream stream = gpu.stream(*caller.device);
  for (int i = 0; i < 3; ++i) caller.call(stream, true);
  CHECK(gpu.control.calls("cuStreamWaitEvent") == 0);
  check_call_order(gpu.control.launches());
  for (const FakeLaunch& launch : gpu.control.launches()) CHECK(launch.programmatic);
}

TEST_CASE("calls on several streams run in call order, not programmatically") {
  FakeGpu gpu;
  Caller caller(gpu, gpu.device(), 1);
  const cu::Stream streams[] = {gpu.stream(*caller.device), gpu.stream(*caller.device), nullptr};
  for (int i = 0; i < 9; ++i) caller.call(streams[i % 3], true);
  const std::vector<FakeLaunch> launches = gpu.control.launches();
  check_call_order(launches);
  for (size_t i = 1; i < launches.size(); ++i) CHECK_FALSE(launches[i].programmatic);
}

TEST_CASE("a stream that the application destroyed is not touched again") {
  FakeGpu gpu;
  Caller caller(gpu, gpu.device(), 1);
  const cu::Stream gone = gpu.stream(*caller.device);
  caller.call(gone);
  REQUIRE(gpu.api->stream_destroy(gone).is_ok());
  caller.call(gpu.stream(*caller.device));
  check_call_order(gpu.control.launches());
}

TEST_CASE("a graph of many calls holds one wait and one record outside the chain") {
  FakeGpu gpu;
  Caller caller(gpu, gpu.device(), 1);
  const cu::Stream stream = gpu.stream(*caller.device);
  const cu::Graph graph = capture(gpu, stream, [&] {
    for (int i = 0; i < 5; ++i) caller.call(stream, true);
  });
  std::vector<size_t> kernels, waits, records;
  const auto nodes = gpu.control.graph(graph);
  for (size_t i = 0; i < nodes.size(); ++i) {
    (nodes[i].kind == FakeNode::kLaunch ? kernels
     : nodes[i].kind == FakeNode::kWait ? waits
                                        : records)
        .push_back(i);
  }
  REQUIRE(kernels.size() == 5);
  REQUIRE(waits.size() == 1);
  REQUIRE(records.size() == 1);
  CHECK(nodes[waits[0]].depends.empty());
  CHECK(nodes[kernels[0]].depends == std::vector<size_t>{waits[0]});
  CHECK_FALSE(nodes[kernels[0]].programmatic);
  for (size_t i = 1; i < 5; ++i) {
    CHECK(nodes[kernels[i]].depends == std::vector<size_t>{kernels[i - 1]});
    CHECK(nodes[kernels[i]].programmatic);
  }
  CHECK(nodes[records[0]].depends == std::vector<size_t>{kernels[4]});
}

TEST_CASE("nothing is made, loaded or allocated while capturing") {
  FakeGpu gpu;
  Caller caller(gpu, gpu.device(), 1);
  const cu::Stream stream = gpu.stream(*caller.device);
  const test::FakeLive before = gpu.control.live();
  const int loads = gpu.control.calls("cuFuncLoad") + gpu.control.calls("cuLibraryLoadData");
  capture(gpu, stream, [&] {
    for (int i = 0; i < 100; ++i) caller.call(stream);
  });
  test::FakeLive after = gpu.control.live();
  CHECK(after.graph_nodes == 102);
  after.graph_nodes = before.graph_nodes;
  CHECK(after == before);
  CHECK(gpu.control.calls("cuFuncLoad") + gpu.control.calls("cuLibraryLoadData") == loads);
}

TEST_CASE("streams forked within one capture keep call order") {
  FakeGpu gpu;
  Caller caller(gpu, gpu.device(), 1);
  const ContextScope scope(*caller.device);
  const cu::Stream main = gpu.stream(*caller.device);
  const cu::Stream side = gpu.stream(*caller.device);
  cu::Event fork = nullptr, join = nullptr;
  REQUIRE(gpu.api->event_create(&fork, cu::kEventDisableTiming).is_ok());
  REQUIRE(gpu.api->event_create(&join, cu::kEventDisableTiming).is_ok());
  const cu::Graph graph = capture(gpu, main, [&] {
    REQUIRE(gpu.api->event_record(fork, main).is_ok());
    REQUIRE(gpu.api->stream_wait_event(side, fork, 0).is_ok());
    caller.call(main);
    caller.call(side);
    caller.call(main);
    REQUIRE(gpu.api->event_record(join, side).is_ok());
    REQUIRE(gpu.api->stream_wait_event(main, join, 0).is_ok());
  });
  REQUIRE(gpu.api->graph_launch(instantiate(gpu, graph), main).is_ok());
  CHECK(gpu.control.launches().size() == 3);
  check_call_order(gpu.control.launches());
}

TEST_CASE("communicators whose threads capture into forks of one capture change its graph in turn") {
  FakeGpu gpu;
  const auto device = gpu.device();
  Caller callers[] = {{gpu, device, 1}, {gpu, device, 2}};
  const ContextScope scope(*device);
  const cu::Stream main = gpu.stream(*device);
  const cu::Stream forks[] = {gpu.stream(*device), gpu.stream(*device)};
  cu::Event fork = nullptr, join = nullptr;
  REQUIRE(gpu.api->event_create(&fork, cu::kEventDisableTiming).is_ok());
  REQUIRE(gpu.api->event_create(&join, cu::kEventDisableTiming).is_ok());
  std::atomic<int> inside = 0, failures = 0;
  std::atomic<bool> overlap = false, first = true;
  const cu::Graph graph = capture(gpu, main, [&] {
    REQUIRE(gpu.api->event_record(fork, main).is_ok());
    for (const cu::Stream each : forks) REQUIRE(gpu.api->stream_wait_event(each, fork, 0).is_ok());
    // Who is first to change the graph lets the other come, if it can.
    gpu.control.before_calls([&](const std::string& call) {
      if (!call.starts_with("cuGraph") && call != "cuLaunchKernelEx") return;
      if (inside.fetch_add(1) != 0) overlap = true;
      if (first.exchange(false)) {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
        while (!overlap && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
      }
      --inside;
    });
    std::vector<std::thread> threads;
    for (size_t i = 0; i < 2; ++i)
      threads.emplace_back([&, i] {
        for (int call = 0; call < 3; ++call)
          if (!callers[i].order->launch(callers[i].plan, forks[i]).is_ok()) ++failures;
      });
    for (std::thread& thread : threads) thread.join();
    gpu.control.before_calls({});
    for (const cu::Stream each : forks) {
      REQUIRE(gpu.api->event_record(join, each).is_ok());
      REQUIRE(gpu.api->stream_wait_event(main, join, 0).is_ok());
    }
  });
  CHECK(!first);
  CHECK(!overlap);
  CHECK(failures == 0);
  REQUIRE(gpu.api->graph_launch(instantiate(gpu, graph), main).is_ok());
  CHECK(gpu.control.launches().size() == 6);
  check_call_order(gpu.control.launches());
}

TEST_CASE("a graph that takes no event nodes is refused with the likely reason") {
  for (const std::string call : {"cuGraphAddEventWaitNode", "cuGraphAddEventRecordNode"}) {
    CAPTURE(call);
    FakeGpu gpu;
    Caller caller(gpu, gpu.device(), 1);
    const cu::Stream stream = gpu.stream(*caller.device);
    capture(gpu, stream, [&] {
      gpu.control.fail(call, cu::kNotSupported);
      check_refusal(caller.order->launch(caller.plan, stream), PURLIN_CUDA_ERROR,
                    {"the body of a conditional node", call.c_str()});
    });
    const cu::Stream other = gpu.stream(*caller.device);
    capture(gpu, other, [&] {
      gpu.control.fail("cuGraphAddEventWaitNode", cu::kOutOfMemory);
      const Status full = caller.order->launch(caller.plan, other);
      check_refusal(full, PURLIN_OUT_OF_MEMORY, {"cuGraphAddEventWaitNode"});
      CHECK(full.message().find("conditional") == std::string::npos);
    });
  }
}

TEST_CASE("graphs and eager calls, replayed and mixed over streams, keep call order") {
  FakeGpu gpu;
  Caller caller(gpu, gpu.device(), 1);
  Caller other(gpu, gpu.device(), 2);
  std::mt19937_64 random(test::seed() ^ 0x6f72646572);
  std::vector<cu::Stream> streams;
  for (int i = 0; i < 4; ++i) streams.push_back(gpu.stream(*caller.device));
  std::vector<cu::GraphExec> graphs;
  const int steps = test::is_full() ? 2000 : 200;
  for (int step = 0; step < steps; ++step) {
    const cu::Stream stream = streams[random() % streams.size()];
    const uint64_t choice = random() % 10;
    if (choice == 0 && graphs.size() < 20) {
      graphs.push_back(instantiate(gpu, capture(gpu, stream, [&] {
                                     for (uint64_t i = 0; i < 1 + random() % 4; ++i) {
                                       caller.call(stream, random() % 2 == 0);
                                       if (random() % 2 == 0) other.call(stream);
                                     }
                                   })));
    } else if (choice < 5 && !graphs.empty()) {
      REQUIRE(gpu.api->graph_launch(graphs[random() % graphs.size()], stream).is_ok());
    } else {
      (choice % 2 == 0 ? caller : other).call(stream, random() % 2 == 0);
    }
    test::count_cases(1);
  }
  check_call_order(gpu.control.launches());
}

TEST_CASE("a broken capture is refused before anything is launched") {
  FakeGpu gpu;
  Caller caller(gpu, gpu.device(), 1);
  const ContextScope scope(*caller.device);
  const cu::Stream stream = gpu.stream(*caller.device);
  REQUIRE(gpu.api->stream_begin_capture(stream, cu::kCaptureGlobal).is_ok());
  cu::DevicePtr memory = 0;
  CHECK_FALSE(gpu.api->mem_alloc(&memory, 64).is_ok());
  check_refusal(caller.order->launch(caller.plan, stream), PURLIN_INVALID_USAGE,
                {"invalidated", "record it again"});
  CHECK(gpu.control.launches().empty());
}

TEST_CASE("waiting and asking do not disturb another stream's capture") {
  FakeGpu gpu;
  Caller caller(gpu, gpu.device(), 1);
  const cu::Stream stream = gpu.stream(*caller.device);
  caller.call(stream);
  const cu::Stream captured = gpu.stream(*caller.device);
  capture(gpu, captured, [&] {
    CHECK(caller.order->synchronize().is_ok());
    CHECK(caller.order->idle().value());
    caller.call(captured);
  });
}

TEST_CASE("communicators that fit together are not chained") {
  FakeGpu gpu;
  const auto device = gpu.device();
  Caller a(gpu, device, 1, 60), b(gpu, device, 2, 60);
  a.call(gpu.stream(*device));
  b.call(gpu.stream(*device));
  CHECK(gpu.control.launches().at(1).after_start.empty());
}

TEST_CASE("communicators that do not fit together start in call order") {
  FakeGpu gpu;
  const auto device = gpu.device();
  Caller a(gpu, device, 1, 100), b(gpu, device, 2, 100);
  const cu::Stream one = gpu.stream(*device), two = gpu.stream(*device);
  a.call(one);
  b.call(two);
  a.call(one);
  const std::vector<FakeLaunch> launches = gpu.control.launches();
  CHECK(launches[1].after_start == std::set<size_t>{0});
  CHECK(launches[1].after_end.empty());
  CHECK(launches[2].after_start == std::set<size_t>{0, 1});
}

TEST_CASE("chained communicators keep their order through graphs") {
  FakeGpu gpu;
  const auto device = gpu.device();
  Caller a(gpu, device, 1, 100), b(gpu, device, 2, 100);
  const cu::Stream one = gpu.stream(*device), two = gpu.stream(*device);
  const cu::GraphExec graph = instantiate(gpu, capture(gpu, one, [&] { a.call(one); }));
  b.call(two);
  REQUIRE(gpu.api->graph_launch(graph, one).is_ok());
  b.call(two);
  const std::vector<FakeLaunch> launches = gpu.control.launches();
  REQUIRE(launches.size() == 3);
  CHECK(launches[1].after_start.contains(0));
  CHECK(launches[2].after_start.contains(1));
}

TEST_CASE("threads with streams of their own are serialized") {
  FakeGpu gpu;
  Caller caller(gpu, gpu.device(), 1);
  std::vector<std::thread> threads;
  std::vector<cu::Stream> streams;
  for (int i = 0; i < 4; ++i) streams.push_back(gpu.stream(*caller.device));
  std::atomic<int> failures = 0;
  for (const cu::Stream stream : streams) {
    threads.emplace_back([&, stream] {
      for (int i = 0; i < 25; ++i) {
        if (!caller.order->launch(caller.plan, stream).is_ok()) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  CHECK(gpu.control.launches().size() == 100);
  check_call_order(gpu.control.launches());
}

TEST_CASE("orders give back what they made") {
  FakeGpu gpu;
  const auto device = gpu.device();
  const test::FakeLive before = gpu.control.live();
  for (uint64_t i = 0; i < 20; ++i) {
    Caller caller(gpu, device, i);
    caller.call(nullptr);
  }
  CHECK(gpu.control.live() == before);
}

}  // namespace
}  // namespace purlin
