// Programs, launches and peer access: the driver calls of kernels of the tools' own, beyond
// CudaDriver's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tools/cuda_driver.h"

namespace purlin::tools {

// One GPU, current on the thread that opened it, with a stream of its own.
class Launcher {
 public:
  // The driver outlives the launcher. With `peer` of at least 0 that device's memory is reachable
  // too.
  static Outcome<std::unique_ptr<Launcher>> open(const CudaDriver& driver, int device, int peer);
  ~Launcher();
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  const std::string& name() const { return name_; }
  const std::string& architecture() const { return architecture_; }  // "sm_90"
  unsigned multiprocessors() const { return multiprocessors_; }
  unsigned most_shared_bytes() const { return most_shared_bytes_; }  // of a CTA

  // Memory on the device, or on the peer; freed with the launcher at the latest.
  Outcome<CudaAddress> allocate(uint64_t bytes, bool on_peer);
  void release(CudaAddress address);
  // Behind what was launched; complete on return.
  Done copy_in(CudaAddress to, const void* from, uint64_t bytes);
  Done copy_out(void* to, CudaAddress from, uint64_t bytes);

  // A program; unloaded with the launcher.
  Outcome<CudaHandle> load(const void* cubin);
  struct Grid {
    const char* kernel = nullptr;
    unsigned ctas = 0, threads = 0, shared_bytes = 0;
  };
  // `argument` is the kernel's one parameter, read before the call returns.
  Done launch(CudaHandle program, const Grid& grid, const void* argument);
  // Until everything launched has ended; the error of a kernel that failed.
  Done finish();
  // Microseconds a launch: the median of `count` launches after one that is not timed. Complete on
  // return.
  Outcome<double> time(CudaHandle program, const Grid& grid, const void* argument, unsigned count);

 private:
  explicit Launcher(const CudaDriver& driver);
  struct Calls;
  struct Held;
  Done start(int device, int peer);
  Outcome<CudaHandle> prepared(CudaHandle program, const Grid& grid);
  Done launch_prepared(CudaHandle function, const Grid& grid, const void* argument);

  const CudaDriver& driver_;
  std::unique_ptr<Calls> calls_;
  std::unique_ptr<Held> held_;
  std::string name_, architecture_;
  unsigned multiprocessors_ = 0, most_shared_bytes_ = 0;
};

}  // namespace purlin::tools
