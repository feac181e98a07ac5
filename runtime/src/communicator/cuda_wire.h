// The memory through which the GPU ranks of a communicator meet: every rank's block in its GPU's
// memory, mapped by all, and one table of controls in host memory.
#pragma once

#include <vector>

#include "device/placement.h"
#include "device/registered_memory.h"
#include "memory/peer_mapping.h"
#include "memory/shared_memory.h"
#include "rendezvous/rendezvous.h"
#include "snac/wire.h"

namespace purlin {

// A number of the communicator: the same on all its ranks, and in all likelihood on no other's.
uint64_t identity_number(const Rendezvous& rendezvous);

// One rank's side. Peers are unmapped before own memory is given up; no kernel that uses the wire may
// still run then. Movable, not thread-safe.
class CudaWire {
 public:
  // Collective. Allocates and zeroes own block, exchanges descriptors (or, within a process,
  // nothing), maps every peer, and proves by writing and reading back that peers reach each other.
  // On failure every rank gets an error that names the rank at fault.
  static Result<CudaWire> create(std::shared_ptr<const CudaDevice> device, const std::string& name,
                                 const snac::WireConfig& config, Rendezvous& rendezvous);

  // Base of rank r's block as kernels of this rank reach it.
  snac::u8* block(int rank) const {
    return reinterpret_cast<snac::u8*>(addresses_[static_cast<size_t>(rank)]);
  }
  // The table as this process's threads see it, and as kernels do.
  snac::Control* host_controls() const { return host_controls_; }
  snac::Control* device_controls() const {
    return reinterpret_cast<snac::Control*>(registered_.device_address());
  }
  // Ranks that run on this rank's GPU at the same time, itself included.
  unsigned local_ranks() const { return local_ranks_; }
  // Whether 16-byte packets arrive whole between all pairs of ranks: the same answer on every rank.
  bool packets() const { return packets_; }
  // Bytes of GPU memory that this rank holds.
  uint64_t device_bytes() const { return own_.mapped_bytes(); }

 private:
  struct Seat;  // what each rank tells the others

  Status map_peers(const std::vector<Seat>& seats, Rendezvous& rendezvous);
  Status verify(const std::vector<Seat>& seats, const snac::WireMap& map, Rendezvous& rendezvous);
  Status agree_on_packets(const std::vector<Seat>& seats, Rendezvous& rendezvous);

  std::shared_ptr<const CudaDevice> device_;
  SharedMemory table_;
  RegisteredMemory registered_;
  snac::Control* host_controls_ = nullptr;
  DeviceMemory own_;
  std::vector<PeerMapping> peers_;
  std::vector<cu::DevicePtr> addresses_;
  unsigned local_ranks_ = 1;
  bool packets_ = true;
};

}  // namespace purlin
