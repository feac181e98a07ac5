// A GPU as Purlin sees it: opened once, known by its UUID, kept for the life of a communicator.
//
// A CudaDevice holds a reference on the device's primary context (the one that the CUDA runtime and
// frameworks use). It is shared by everything that lives on the device; the last owner releases the
// context. Immutable, hence safe from any thread.
#pragma once

#include <memory>
#include <string>

#include "device/driver_api.h"
#include "purlin/atom_abi.h"

namespace purlin {

class CudaDevice {
 public:
  // Opens the device with this ordinal among the visible ones; -1: the one current on the calling
  // thread (the device of its context; without one, device 0, as the CUDA runtime does).
  // PURLIN_INVALID_ARGUMENT: no such ordinal, with the number of visible devices.
  // PURLIN_UNSUPPORTED: the calling thread's context is not the device's primary one (ordinal -1),
  // or the device cannot share memory by descriptor.
  static Result<std::shared_ptr<const CudaDevice>> open(const DriverApi& api, int ordinal);
  ~CudaDevice();
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  const DriverApi& api() const { return *api_; }
  int ordinal() const { return ordinal_; }
  cu::Device handle() const { return handle_; }
  cu::Context context() const { return context_; }
  // The hardware's identity (of the partition, for MIG): equal for two processes exactly if they
  // use the same GPU, whatever their lists of visible devices.
  const cu::Uuid& uuid() const { return uuid_; }
  // "GPU-8d3f…" with 32 hex digits.
  const std::string& uuid_text() const { return uuid_text_; }
  const std::string& name() const { return name_; }
  // "GPU 0 (NVIDIA H200, GPU-…)", for messages.
  std::string describe() const;

  // Compute capability 10 * major + minor, e.g. 90.
  int architecture() const { return architecture_; }
  int multiprocessors() const { return multiprocessors_; }
  // Number of memory-synchronization domains; 1: the launch attribute for the remote one is
  // useless.
  int sync_domains() const { return sync_domains_; }
  // True if processes share this GPU's contexts through MPS.
  bool mps() const { return mps_; }

  // Facts for Atom probes. `name` points into this object. facts.nvlink is 1 if some other visible
  // GPU is joined by NVLink.
  const purlin_device_facts& facts() const { return facts_; }

 private:
  CudaDevice() = default;
  Status read(int ordinal);
  Result<int> attribute(cu::DeviceAttribute attribute) const;
  Status read_identity();
  Status read_facts();
  Status check_sharing() const;

  const DriverApi* api_ = nullptr;
  int ordinal_ = -1;
  cu::Device handle_ = 0;
  cu::Context context_ = nullptr;
  cu::Uuid uuid_ = {};
  std::string uuid_text_, name_;
  int architecture_ = 0;
  int multiprocessors_ = 0;
  int sync_domains_ = 1;
  bool mps_ = false;
  purlin_device_facts facts_ = {};
};

// The ordinal of the device current on the calling thread, as for CudaDevice::open(-1).
Result<int> current_ordinal(const DriverApi& api);

}  // namespace purlin
