// What carries a communicator's calls out: host threads, or a GPU.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "communicator/launch.h"
#include "communicator/mapped_window.h"
#include "communicator/pair_launch.h"
#include "rendezvous/rendezvous.h"

namespace purlin {

class CudaDevice;
class SwitchMemory;
struct CtaWish;
struct ProgramNeed;

// One rank's device side. Calls of one object are serialized by the communicator, but for `stop`.
class Backend {
 public:
  virtual ~Backend() = default;

  // Fills what the device decides: peers' memory, the wire map, limits.
  virtual void prepare(snac::CallParams* params) const = 0;
  // Carries out (host) or enqueues (GPU) the call. PURLIN_OK, an error of the launch itself, or
  // PURLIN_BROKEN when the rank stopped; the communicator then asks for the report.
  virtual Status launch(const Launch& launch) = 0;
  // The same for sends and receives, which leave the epoch alone. PURLIN_UNSUPPORTED where a backend
  // has none.
  virtual void prepare_pairs(snac::PairParams* params) const;
  virtual Status launch_pairs(const PairLaunch& launch);
  // Whether 16-byte packets arrive whole between all ranks.
  virtual bool packets() const { return true; }
  // WireFacts::least_chunks, the same on all ranks.
  virtual uint32_t least_chunks() const { return 1; }
  // Why ranks do not read each other's memory where it lies, the same on all ranks; "" if they do.
  virtual std::string unreadable() const { return "only host ranks read each other's memory"; }
  // Collective: makes own buffer reachable for the peers, and theirs for this rank, as far as can be.
  virtual Result<MappedWindow> map_window(void* buffer, uint64_t bytes) = 0;
  // Writes a line of own table of windows, which launches after it find. No buffers: it is closed.
  virtual Status write_window(uint32_t number, std::span<const snac::WindowBuffer> buffers) = 0;
  // Makes device programs ahead of the calls that need them. Host ranks need none.
  virtual Status make_programs(const std::vector<ProgramNeed>&) { return {}; }
  // Own Control as the host reads it, and a peer's or nullptr.
  virtual snac::Control* control(int rank) const = 0;
  // Leaves `record`, stops this rank and tells all peers. From any thread.
  virtual void stop(const snac::StopRecord& record) = 0;
  // Says that this rank refuses the call it was about to make; waiting peers may look.
  virtual void refuse_next() = 0;
  // Overwrites bytes of a rank's block, as mapped here, after own enqueued work has ended. No peer may be
  // running.
  virtual Status write_block(int rank, uint64_t offset, std::span<const snac::u8> bytes) = 0;
  // Waits for own enqueued work, bounded by the timeout of the calls.
  virtual void drain() = 0;
};

// Bytes and shape of the memory that every rank offers; agreed before.
struct BackendOptions {
  snac::WireConfig wire;
  std::string name;
  const purlin_atom_descriptor* switch_atom = nullptr;  // null: the switch does not serve
  std::shared_ptr<SwitchMemory> switch_memory;          // GPU ranks, with switch_atom
};

// Collective. Host ranks over one shared memory file; `atom` and `rendezvous` outlive the backend.
Result<std::unique_ptr<Backend>> make_host_backend(const BackendOptions& options,
                                                   const purlin_host_atom& atom,
                                                   snac::HostPatience patience,
                                                   Rendezvous& rendezvous);

// Collective. One rank a GPU, or several as threads of one process. `atom` is a CUDA Atom; `programs`
// are loaded before anything can be launched. `rendezvous` outlives the backend.
Result<std::unique_ptr<Backend>> make_cuda_backend(const BackendOptions& options,
                                                   std::shared_ptr<const CudaDevice> device,
                                                   const purlin_atom_descriptor& atom,
                                                   const std::vector<ProgramNeed>& programs,
                                                   const CtaWish& wish, Rendezvous& rendezvous);

}  // namespace purlin
