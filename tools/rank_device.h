// Where a rank's buffers lie and how its calls are timed: host memory and the clock, or a GPU and
// its events.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "purlin/purlin.h"
#include "tools/cuda_driver.h"
#include "tools/outcome.h"
#include "tools/timing.h"

namespace purlin::tools {

// Microseconds a call, an entry a sample of `batch` calls.
struct Samples {
  std::vector<double> microseconds;
  uint64_t batch = 1;
  double empty = 0;  // behind an empty kernel: the median of that kernel's time, timed by itself
};

// One rank's, used by its thread alone.
class RankDevice {
 public:
  virtual ~RankDevice() = default;

  virtual purlin_device_kind kind() const = 0;
  virtual int ordinal() const = 0;
  virtual purlin_stream_t stream() const = 0;
  // Bytes that the device has left; 0 where nobody can tell.
  virtual uint64_t free_memory() const = 0;

  // True where calls cannot take host addresses: memory must be allocated and copied.
  virtual bool separate_memory() const = 0;
  // Only with separate memory. Copies wait for what is enqueued and are complete on return.
  virtual Outcome<unsigned char*> allocate(uint64_t bytes) = 0;
  virtual void release(unsigned char* memory) = 0;
  virtual Done copy_in(unsigned char* to, const void* from, uint64_t bytes) = 0;
  virtual Done copy_out(void* to, const unsigned char* from, uint64_t bytes) = 0;

  // Waits until every call made so far is complete; the communicator's error if it has one.
  virtual Done finish(purlin_comm_t comm) = 0;

  // Makes about plan.batches * plan.batch calls in a row and times them; complete on return.
  // `everyone_ready` returns when every rank has called it. It is called once, after all that may
  // wait for the device (graphs, events) and before the first call is launched: a rank that still
  // made its graph while a peer's kernel waits for it could wait for that kernel for ever.
  virtual Outcome<Samples> time(const std::function<Done()>& call, const Plan& plan,
                                purlin_comm_t comm,
                                const std::function<Done()>& everyone_ready) = 0;
};

std::unique_ptr<RankDevice> host_device();

// The GPU of this ordinal, current on the calling thread until the device is destroyed. `graph`:
// time replays of captured graphs of 20 calls, otherwise calls made one by one. `behind`: every timed
// call stands behind a kernel that does nothing, whose time counts.
Outcome<std::unique_ptr<RankDevice>> cuda_device(const CudaDriver& driver, int ordinal, bool graph,
                                                 bool behind = false);

}  // namespace purlin::tools
