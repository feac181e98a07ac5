#include "host_kernels.h"

#include "snac/flow.h"
#include "snac/host_run.h"
#include "snac/naive_atom.h"

namespace purlin::test {
FakeControl& opened_driver() {
  static FakeControl& control = [&]() -> FakeControl& {
    FakeSetup setup;
    setup.devices = 3;
    setup.parameter_bytes = sizeof(DeviceParams);
    return open_fake_driver(PURLIN_FAKE_DRIVER, setup);
  }();
  return control;
}

namespace {

// As the kernels of either protocol do it.
void carry_out(const DeviceParams& d, bool packets, bool windows) {
  const snac::CallParams p = with_room<snac::kMaxRanks>(d);
  const auto collective = static_cast<snac::Collective>(snac::described_collective(p.descriptor));
  snac::Form form = snac::form_of(snac::transformation_of(collective), p.nranks, p.geometry);
  form.windows = windows;
  purlin_constants constants{};
  constants.struct_size = sizeof constants;
  constants.nranks = p.nranks;
  constants.dtype = PURLIN_U8;
  snac::HostCall call;
  call.form = &form;
  call.params = &p;
  call.atom = &naive_atom();
  call.constants = &constants;
  call.patience = {50, 20};
  call.epoch = *snac::epoch_word(d, 0) + 1;
  // A stop is in the record.
  static_cast<void>(packets ? snac::run_latency(call) : snac::run_throughput(call));
  if (d.epoch_goes_on != 0) return;
  for (uint32_t word = 0; word < d.epoch_words; ++word) *snac::epoch_word(d, word) = call.epoch;
}

}  // namespace

HostKernels::HostKernels(FakeControl& control, int nranks, bool windows)
    : control_(control), windows_(windows) {
  for (int r = 0; r < nranks; ++r) {
    ranks_.push_back(std::make_unique<Rank>());
    Rank& rank = *ranks_.back();
    rank.worker = std::thread([this, &rank] { work(rank); });
  }
  control_.on_launch([this](const FakeLaunch& launch, void** parameters) {
    const auto& params = *static_cast<const DeviceParams*>(parameters[0]);
    const std::lock_guard lock(mutex_);
    Rank& rank = *ranks_[params.rank];
    rank.queue.push_back({params, launch.kernel.find("latency") != std::string::npos});
    rank.last = params;
    changed_.notify_all();
  });
}

HostKernels::~HostKernels() {
  control_.on_launch({});
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  for (const auto& rank : ranks_) rank->worker.join();
}

void HostKernels::synchronize(int rank) {
  std::unique_lock lock(mutex_);
  Rank& one = *ranks_[static_cast<size_t>(rank)];
  changed_.wait(lock, [&] { return one.queue.empty() && !one.busy; });
}

DeviceParams HostKernels::last(int rank) {
  const std::lock_guard lock(mutex_);
  return ranks_[static_cast<size_t>(rank)]->last;
}

void HostKernels::work(Rank& rank) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ending_ || !rank.queue.empty(); });
    if (rank.queue.empty()) return;
    const Kernel kernel = rank.queue.front();
    rank.queue.pop_front();
    rank.busy = true;
    lock.unlock();
    carry_out(kernel.params, kernel.packets, windows_);
    lock.lock();
    rank.busy = false;
    changed_.notify_all();
  }
}

}  // namespace purlin::test
