// What kernels of packets and of chunks do, done by threads of the host: for a driver whose device memory
// is host memory.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "communicator/cuda_params.h"
#include "gpu/fake_driver.h"

namespace purlin::test {

// The fake driver, its devices made once for all test cases: the library keeps what it has opened.
FakeControl& opened_driver();

// Carries out every launch of `control`'s driver on a thread of its rank's, in launch order; u8
// sums and copies alone. All ranks of one process and one communicator.
class HostKernels {
 public:
  // `windows`: the programs are those of communicators with registered buffers.
  HostKernels(FakeControl& control, int nranks, bool windows);
  ~HostKernels();
  // Waits for all launches of the rank so far.
  void synchronize(int rank);
  // The parameters of the rank's last launch.
  DeviceParams last(int rank);

 private:
  struct Kernel {
    DeviceParams params;
    bool packets = false;
  };
  struct Rank {
    std::deque<Kernel> queue;
    DeviceParams last;
    bool busy = false;
    std::thread worker;
  };
  void work(Rank& rank);

  FakeControl& control_;
  const bool windows_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace purlin::test
