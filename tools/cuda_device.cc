#include <fmt/format.h>

#include <algorithm>

#include "tools/empty_kernel.h"
#include "tools/rank_device.h"

namespace purlin::tools {
namespace {

constexpr uint64_t kCallsPerGraph = 20;
constexpr unsigned kNonBlocking = 1;    // CU_STREAM_NON_BLOCKING
constexpr int kCaptureThreadLocal = 1;  // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL

class CudaDevice : public RankDevice {
 public:
  CudaDevice(const CudaDriver& driver, int ordinal, bool graph, bool behind)
      : driver_(driver), ordinal_(ordinal), graph_(graph), behind_(behind) {}
  ~CudaDevice() override {
    empty_.reset();
    for (CudaHandle event : events_) driver_.event_destroy(event);
    if (stream_) driver_.stream_destroy(stream_);
    if (context_) driver_.context_release(device_);
  }

  Done open() {
    const Done opened =
        all({{"cuDeviceGet", driver_.device_get(&device_, ordinal_)},
             {"cuDevicePrimaryCtxRetain", driver_.context_retain(&context_, device_)},
             {"cuCtxSetCurrent", driver_.context_set(context_)},
             {"cuStreamCreate", driver_.stream_create(&stream_, kNonBlocking)}});
    if (!opened || !behind_) return opened;
    auto empty = EmptyKernel::load(driver_);
    if (!empty) return Error{empty.error()};
    empty_ = std::move(*empty);
    return done();
  }

  purlin_device_kind kind() const override { return PURLIN_DEVICE_CUDA; }
  int ordinal() const override { return ordinal_; }
  purlin_stream_t stream() const override { return stream_; }
  uint64_t free_memory() const override {
    const auto ask = reinterpret_cast<int (*)(size_t*, size_t*)>(driver_.find("cuMemGetInfo"));
    size_t left = 0, total = 0;
    return ask && ask(&left, &total) == 0 ? left : 0;
  }
  bool separate_memory() const override { return true; }

  Outcome<unsigned char*> allocate(uint64_t bytes) override {
    CudaAddress address = 0;
    const Done made = driver_.check(fmt::format("cuMemAlloc of {} bytes", bytes).c_str(),
                                    driver_.memory_alloc(&address, std::max<uint64_t>(bytes, 1)));
    if (!made) return Error{made.error()};
    return reinterpret_cast<unsigned char*>(address);
  }
  void release(unsigned char* memory) override { driver_.memory_free(address_of(memory)); }

  Done copy_in(unsigned char* to, const void* from, uint64_t bytes) override {
    if (bytes == 0) return done();
    return all({{"cuMemcpyHtoD", driver_.copy_in(address_of(to), from, bytes, stream_)},
                {"cuStreamSynchronize", driver_.stream_synchronize(stream_)}});
  }
  Done copy_out(void* to, const unsigned char* from, uint64_t bytes) override {
    if (bytes == 0) return done();
    return all({{"cuMemcpyDtoH", driver_.copy_out(to, address_of(from), bytes, stream_)},
                {"cuStreamSynchronize", driver_.stream_synchronize(stream_)}});
  }

  Done finish(purlin_comm_t comm) override {
    const Done waited = driver_.check("cuStreamSynchronize", driver_.stream_synchronize(stream_));
    if (purlin_comm_async_error(comm) != PURLIN_OK) return Error{purlin_comm_last_error(comm)};
    return waited;
  }

  Outcome<Samples> time(const std::function<Done()>& call, const Plan& plan, purlin_comm_t comm,
                        const std::function<Done()>& everyone_ready) override {
    const uint64_t calls = plan.batches * plan.batch;
    const uint64_t batch = std::min(kCallsPerGraph, calls);
    const uint64_t count = (calls + batch - 1) / batch;  // of whole graphs
    Graph graph(driver_);
    const auto many = [&] { return calls_in_a_row(call, batch); };
    Done made = graph_ ? capture(many, graph) : done();
    if (made) made = make_events(count + 1);
    if (!made) return Error{made.error()};
    const auto empty = time_empty_kernels(batch, count, comm);
    if (!empty) return Error{empty.error()};
    if (Done all_made = everyone_ready(); !all_made) return Error{all_made.error()};
    auto samples = graph_ ? between_events([&] { return replay(graph); }, count, batch, comm)
                          : between_events(many, count, batch, comm);
    if (samples) samples->empty = *empty;
    return samples;
  }

 private:
  struct Step {
    const char* what;
    int code;
  };
  // The first that failed. All were made: after one has failed the others do no harm.
  Done all(std::initializer_list<Step> steps) const {
    for (const Step& step : steps)
      if (Done one = driver_.check(step.what, step.code); !one) return one;
    return done();
  }

  static CudaAddress address_of(const unsigned char* memory) {
    return static_cast<CudaAddress>(reinterpret_cast<uintptr_t>(memory));
  }

  Done calls_in_a_row(const std::function<Done()>& call, uint64_t count) const {
    for (uint64_t i = 0; i < count; ++i) {
      if (empty_)
        if (Done made = empty_->enqueue(stream_); !made) return made;
      if (Done made = call(); !made) return made;
    }
    return done();
  }

  // A captured graph and its executable form.
  struct Graph {
    explicit Graph(const CudaDriver& its_driver) : driver(its_driver) {}
    ~Graph() {
      if (executable) driver.graph_exec_destroy(executable);
      if (captured) driver.graph_destroy(captured);
    }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    const CudaDriver& driver;
    CudaHandle captured = nullptr, executable = nullptr;
  };

  Done capture(const std::function<Done()>& calls, Graph& graph) {
    if (Done began = driver_.check("cuStreamBeginCapture",
                                   driver_.capture_begin(stream_, kCaptureThreadLocal));
        !began)
      return began;
    const Done made = calls();
    const Done ended =
        driver_.check("cuStreamEndCapture", driver_.capture_end(stream_, &graph.captured));
    if (!made || !ended) return made ? ended : made;
    return all(
        {{"cuGraphInstantiate", driver_.graph_instantiate(&graph.executable, graph.captured, 0)},
         {"cuGraphUpload", driver_.graph_upload(graph.executable, stream_)},
         {"cuStreamSynchronize", driver_.stream_synchronize(stream_)}});
  }

  Done replay(const Graph& graph) const {
    return driver_.check("cuGraphLaunch", driver_.graph_launch(graph.executable, stream_));
  }

  // Graphs like those of calls, of the kernel alone; 0 where calls do not stand behind one.
  Outcome<double> time_empty_kernels(uint64_t batch, uint64_t count, purlin_comm_t comm) {
    if (!empty_) return 0.0;
    Graph graph(driver_);
    const auto many = [&]() -> Done {
      for (uint64_t i = 0; i < batch; ++i)
        if (Done made = empty_->enqueue(stream_); !made) return made;
      return done();
    };
    if (graph_)
      if (Done captured = capture(many, graph); !captured) return Error{captured.error()};
    auto samples = graph_ ? between_events([&] { return replay(graph); }, count, batch, comm)
                          : between_events(many, count, batch, comm);
    if (!samples) return Error{samples.error()};
    return summarize(std::move(samples->microseconds), batch).median;
  }

  Done make_events(uint64_t count) {
    while (events_.size() < count) {
      CudaHandle event = nullptr;
      if (Done made = driver_.check("cuEventCreate", driver_.event_create(&event, 0)); !made)
        return made;
      events_.push_back(event);
    }
    return done();
  }

  // Runs `work` (of `batch` calls) `count` times with an event on either side of each, once more
  // before the first so that it does not count.
  Outcome<Samples> between_events(const std::function<Done()>& work, uint64_t count, uint64_t batch,
                                  purlin_comm_t comm) {
    Done step = work();
    for (uint64_t i = 0; step && i <= count; ++i) {
      step = driver_.check("cuEventRecord", driver_.event_record(events_[i], stream_));
      if (step && i < count) step = work();
    }
    const Done finished = finish(comm);
    if (!step || !finished) return Error{step ? finished.error() : step.error()};
    Samples samples{{}, batch};
    for (uint64_t i = 0; i < count; ++i) {
      float milliseconds = 0;
      const Done read = driver_.check(
          "cuEventElapsedTime", driver_.event_elapsed(&milliseconds, events_[i], events_[i + 1]));
      if (!read) return Error{read.error()};
      samples.microseconds.push_back(static_cast<double>(milliseconds) * 1000 /
                                     static_cast<double>(batch));
    }
    return samples;
  }

  const CudaDriver& driver_;
  const int ordinal_;
  const bool graph_, behind_;
  int device_ = 0;
  CudaHandle context_ = nullptr, stream_ = nullptr;
  std::vector<CudaHandle> events_;
  std::unique_ptr<EmptyKernel> empty_;  // with behind_
};

}  // namespace

Outcome<std::unique_ptr<RankDevice>> cuda_device(const CudaDriver& driver, int ordinal, bool graph,
                                                 bool behind) {
  auto device = std::make_unique<CudaDevice>(driver, ordinal, graph, behind);
  if (Done opened = device->open(); !opened) return Error{opened.error()};
  return std::unique_ptr<RankDevice>(std::move(device));
}

}  // namespace purlin::tools
