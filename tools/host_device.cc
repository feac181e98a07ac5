#include "tools/rank_device.h"

namespace purlin::tools {
namespace {

class HostDevice : public RankDevice {
 public:
  purlin_device_kind kind() const override { return PURLIN_DEVICE_HOST; }
  int ordinal() const override { return -1; }
  purlin_stream_t stream() const override { return nullptr; }
  uint64_t free_memory() const override { return 0; }
  bool separate_memory() const override { return false; }
  Outcome<unsigned char*> allocate(uint64_t) override {
    return Error{"ranks in host memory need no copy of their buffers"};
  }
  void release(unsigned char*) override {}
  Done copy_in(unsigned char*, const void*, uint64_t) override { return done(); }
  Done copy_out(void*, const unsigned char*, uint64_t) override { return done(); }
  Done finish(purlin_comm_t) override { return done(); }  // calls are complete when they return

  Outcome<Samples> time(const std::function<Done()>& call, const Plan& plan, purlin_comm_t,
                        const std::function<Done()>&) override {
    auto samples = time_calls(call, plan.batches, plan.batch);
    if (!samples) return Error{samples.error()};
    return Samples{std::move(*samples), plan.batch};
  }
};

}  // namespace

std::unique_ptr<RankDevice> host_device() { return std::make_unique<HostDevice>(); }

}  // namespace purlin::tools
