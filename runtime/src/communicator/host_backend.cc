#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "communicator/backend.h"
#include "communicator/cores.h"
#include "communicator/direct_reading.h"
#include "communicator/shared_table.h"
#include "rendezvous/records.h"
#include "snac/host_direct.h"
#include "snac/host_pairs.h"
#include "snac/host_run.h"
#include "snac/window.h"

namespace purlin {
namespace {

// With more ranks than cores, who spins keeps the rank that it waits for from running.
constexpr snac::u32 kCrowdedSpins = 8;

// Of the table of Controls, in front of the ranks' memory.
uint64_t control_bytes(uint32_t nranks) {
  return snac::round_up(uint64_t{nranks} * sizeof(snac::Control), 4096);
}

class HostBackend : public Backend {
 public:
  HostBackend(std::shared_ptr<SharedMemory> memory, const BackendOptions& options, const purlin_host_atom& atom,
              snac::HostPatience patience, DirectReading reading, Rendezvous& rendezvous)
      : memory_(std::move(memory)), map_(snac::map_wire(options.wire)), atom_(atom),
        switch_atom_(options.switch_atom != nullptr ? options.switch_atom->host : nullptr),
        patience_(patience), reading_(std::move(reading)), rendezvous_(rendezvous),
        peer_left_([this](snac::u32 peer) {
          return rendezvous_.liveness().state(static_cast<int>(peer)) != PeerState::kMember;
        }),
        read_peer_([this](snac::u32 peer, void* to, snac::u64 address, snac::u64 bytes) {
          return reading_.read(peer, to, address, bytes);
        }) {
    auto* const base = reinterpret_cast<snac::u8*>(memory_->data());
    controls_ = reinterpret_cast<snac::Control*>(base);
    for (snac::u32 r = 0; r < options.wire.nranks; ++r)
      peers_[r] = base + control_bytes(options.wire.nranks) + r * map_.total;
    rendezvous_.liveness().set_abort_word(stop_word(), snac::kStopPeerLost);
  }
  ~HostBackend() override { rendezvous_.liveness().set_abort_word(nullptr, 0); }

  void prepare(snac::CallParams* params) const override {
    params->map = map_;
    params->controls = controls_;
    for (int r = 0; r < rendezvous_.size(); ++r)
      params->peers[r] = peers_[static_cast<size_t>(r)];
  }

  Status launch(const Launch& launch) override {
    snac::HostCall call;
    call.form = &launch.form;
    call.params = &launch.params;
    call.atom = launch.switched ? switch_atom_ : &atom_;
    purlin_constants constants = launch.constants;
    constants.shared = memory_->data();
    constants.shared_bytes = memory_->size();
    call.constants = &constants;
    call.patience = patience_;
    call.peer_left = &peer_left_;
    call.epoch = launch.alone ? 1 : epoch_ + 1;
    const bool finished = (!launch.switched || snac::run_switch(call)) &&
                          (!launch.packets || snac::run_latency(call)) &&
                          (!launch.chunks || (launch.direct ? snac::run_direct(call, read_peer_)
                                                            : snac::run_throughput(call)));
    if (!finished) return Status(PURLIN_BROKEN, "stopped");
    ++epoch_;
    return {};
  }

  // Threads of one process reach each other's memory as it is.
  Result<MappedWindow> map_window(void* buffer, uint64_t bytes) override {
    auto all = gather_records(snac::WindowBuffer{reinterpret_cast<uint64_t>(buffer), bytes},
                              "registered buffers", rendezvous_);
    if (!all) return all.status();
    MappedWindow window;
    for (int r = 0; r < rendezvous_.size(); ++r) {
      const bool here = rendezvous_.same_process(r);
      window.buffers.push_back(here ? (*all)[static_cast<size_t>(r)] : snac::WindowBuffer{});
      if (!here && window.why_not.empty())
        window.why_not = fmt::format("rank {} is another process than rank {}", r, rendezvous_.rank());
    }
    return window;
  }
  Status write_window(uint32_t number, std::span<const snac::WindowBuffer> buffers) override {
    const auto rank = static_cast<size_t>(rendezvous_.rank());
    uint64_t* line = snac::window_line(peers_[rank], map_,
                                       static_cast<snac::u32>(rendezvous_.size()), number);
    std::copy(buffers.begin(), buffers.end(), snac::buffers_of(line));
    *line = buffers.empty() ? 0 : number;
    return {};
  }

  std::string unreadable() const override { return reading_.obstacle(); }

  void prepare_pairs(snac::PairParams* params) const override {
    params->map = map_;
    params->controls = controls_;
    for (int r = 0; r < rendezvous_.size(); ++r)
      params->peers[r] = peers_[static_cast<size_t>(r)];
  }

  Status launch_pairs(const PairLaunch& launch) override {
    // Messages do not move the epoch on, which makes older refusals of collectives void.
    __atomic_store_n(&control(rendezvous_.rank())->refused, 0, __ATOMIC_RELEASE);
    snac::HostPairs call;
    call.params = &launch.params;
    call.atom = &atom_;
    call.constants = &launch.constants;
    call.patience = patience_;
    call.peer_left = &peer_left_;
    call.next_epoch = epoch_ + 1;
    return snac::run_pairs(call) ? Status() : Status(PURLIN_BROKEN, "stopped");
  }

  snac::Control* control(int rank) const override {
    return controls_ + rank;
  }
  void stop(const snac::StopRecord& record) override {
    snac::stop_ranks(controls_, static_cast<snac::u32>(rendezvous_.size()),
                     static_cast<snac::u32>(rendezvous_.rank()), record);
  }
  void refuse_next() override {
    __atomic_store_n(&control(rendezvous_.rank())->refused, epoch_ + 1, __ATOMIC_RELEASE);
  }
  Status write_block(int rank, uint64_t offset, std::span<const snac::u8> bytes) override {
    std::copy(bytes.begin(), bytes.end(), peers_[static_cast<size_t>(rank)] + offset);
    return {};
  }
  void drain() override {}

 private:
  std::atomic<uint32_t>* stop_word() const {
    static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));
    return reinterpret_cast<std::atomic<uint32_t>*>(&control(rendezvous_.rank())->stop);
  }

  std::shared_ptr<SharedMemory> memory_;  // one for all ranks of the process
  snac::WireMap map_;
  const purlin_host_atom& atom_;
  const purlin_host_atom* switch_atom_;
  snac::HostPatience patience_;
  const DirectReading reading_;
  Rendezvous& rendezvous_;
  snac::PeerLeft peer_left_;
  snac::ReadPeer read_peer_;
  snac::Control* controls_ = nullptr;
  std::array<snac::u8*, snac::kMaxRanks> peers_{};
  uint64_t epoch_ = 0;
};

}  // namespace

Result<std::unique_ptr<Backend>> make_host_backend(const BackendOptions& options,
                                                   const purlin_host_atom& atom,
                                                   snac::HostPatience patience,
                                                   Rendezvous& rendezvous) {
  const uint64_t bytes = control_bytes(options.wire.nranks) +
                         snac::map_wire(options.wire).total * options.wire.nranks;
  auto cores = cores_of_ranks(rendezvous);
  if (!cores) return cores.status();
  const bool crowded = *cores < rendezvous.size();
  if (crowded) patience.spins = std::min(patience.spins, kCrowdedSpins);
  auto memory = share_mapping("purlin " + options.name, bytes, rendezvous);
  if (!memory) return memory.status();
  // A call that reads its peers' input ends with a wait for all of them: a change of threads for each,
  // where they share cores.
  auto reading = crowded ? DirectReading::none(fmt::format("{} ranks share {} cores, where staging is "
                                                           "faster", rendezvous.size(), *cores))
                         : DirectReading::try_out(rendezvous);
  if (!reading) return reading.status();
  return std::unique_ptr<Backend>(std::make_unique<HostBackend>(
      std::move(*memory), options, atom, patience, std::move(*reading), rendezvous));
}

}  // namespace purlin
