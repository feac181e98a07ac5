// GPU ranks' staging for the switch: memory of each rank, bound into one multicast object of all.
#pragma once

#include <memory>

#include "device/multicast_api.h"
#include "memory/device_memory.h"
#include "rendezvous/rendezvous.h"
#include "snac/platform.h"

namespace purlin {

// One rank's side. A multicast object takes one of the switch's few slots, which is given back when the
// last rank lets go. Release it only when no kernel that uses it runs any more, on any rank. Movable,
// not thread-safe.
class SwitchMemory {
 public:
  // Collective. All ranks take each step (create, hand over, add the device, bind, map) or none goes
  // on: what fails on one rank is every rank's verdict, with its text, and everything is given back.
  // A step that a driver is not ready for is tried again by all in step, for some seconds. `bytes` > 0
  // are zeroed on every rank.
  // PURLIN_UNSUPPORTED: forbidden, no multicast on a device, ranks that share a GPU. Otherwise the
  // driver's error, PURLIN_OUT_OF_MEMORY where the switch has no slot left.
  static Result<SwitchMemory> create(std::shared_ptr<const CudaDevice> device, uint64_t bytes,
                                     Rendezvous& rendezvous);
  SwitchMemory(SwitchMemory&& other) noexcept;
  SwitchMemory& operator=(SwitchMemory&&) = delete;
  ~SwitchMemory();

  // Own replica by its own address, and all replicas by their common one.
  snac::u8* replica() const { return reinterpret_cast<snac::u8*>(own_.address()); }
  snac::u8* view() const { return reinterpret_cast<snac::u8*>(view_.address()); }

 private:
  // The object between its creation and its mapping, which takes the handle over.
  struct Handle {
    Handle(const DriverApi& driver, cu::MemHandle made) : api(driver), value(made) {}
    ~Handle();
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    const DriverApi& api;
    cu::MemHandle value;
  };

  SwitchMemory(std::shared_ptr<const CudaDevice> device, std::unique_ptr<MulticastApi> multicast)
      : device_(std::move(device)), multicast_(std::move(multicast)) {}
  cu::MulticastProp prop(int ranks) const;
  Status size_up(uint64_t bytes, int ranks);
  Status create_object(int ranks);
  Status hand_over(Rendezvous& rendezvous);
  Status bind();
  Status map();

  std::shared_ptr<const CudaDevice> device_;
  std::unique_ptr<MulticastApi> multicast_;
  uint64_t bytes_ = 0;  // of each replica, a multiple of both granularities
  DeviceMemory own_;
  std::unique_ptr<Handle> object_;
  bool bound_ = false;
  MappedRange view_;
};

}  // namespace purlin
