#include "communicator/rehearsal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "communicator/stop_report.h"
#include "snac/host_run.h"

namespace purlin {
namespace {

constexpr uint64_t kEpoch = 1;
constexpr int kNeverStaged = 0xA5;
// More threads than cores: who waits lets the others run.
constexpr snac::HostPatience kPatience{8, 2000};

}  // namespace

Rehearsal::Rehearsal(std::vector<Launch> launches)
    : launches_(std::move(launches)),
      controls_(launches_.size()),
      blocks_(static_cast<snac::u8*>(std::calloc(launches_.size(), map().total))) {
  if (!blocks_) return;
  for (Launch& launch : launches_) {
    launch.params.controls = controls_.data();
    for (uint32_t r = 0; r < ranks(); ++r) launch.params.peers[r] = block(r);
  }
}

Result<Rehearsal> Rehearsal::carry_out(std::vector<Launch> launches, const purlin_host_atom& atom,
                                       const std::string& name) {
  Rehearsal self(std::move(launches));
  if (!self.blocks_)
    return Status(
        PURLIN_OUT_OF_MEMORY,
        fmt::format(
            "{} bytes of host memory for each of {} ranks were asked for, to hold what they "
            "write to each other; lower the policy's staging",
            self.map().total, self.ranks()));
  std::vector<std::thread> threads;
  for (const Launch& launch : self.launches_)
    threads.emplace_back([&self, &launch, &atom] { static_cast<void>(self.run(launch, atom)); });
  for (std::thread& thread : threads) thread.join();
  for (uint32_t r = 0; r < self.ranks(); ++r) {
    if (self.controls_[r].stop == 0) continue;
    return report_stop(
               self.controls_[r], static_cast<int>(r), -1, name,
               [&](int rank) { return &self.controls_[static_cast<size_t>(rank)]; },
               [](int rank) { return fmt::format("rank {}", rank); })
        .with_context("while the calls of all ranks were carried out on the host");
  }
  if (self.reuses_slots())
    return Status(
        PURLIN_UNSUPPORTED,
        fmt::format(
            "a call of this size uses its staging of {} bytes more than once, so that what a rank "
            "alone would find first is gone; take a smaller size, or raise the policy's "
            "staging.throughput_bytes",
            self.map().staging_bytes));
  return self;
}

bool Rehearsal::run(const Launch& launch, const purlin_host_atom& atom) const {
  snac::HostCall call;
  call.form = &launch.form;
  call.params = &launch.params;
  call.atom = &atom;
  purlin_constants constants = launch.constants;
  constants.shared = blocks_.get();
  constants.shared_bytes = ranks() * map().total;
  call.constants = &constants;
  call.patience = kPatience;
  call.epoch = kEpoch;
  if (launch.packets && !snac::run_latency(call)) return false;
  return !launch.chunks || snac::run_throughput(call);
}

// Only a slot that is used again is acknowledged.
bool Rehearsal::reuses_slots() const {
  const uint64_t words = 4 * map().flag_words;
  for (uint32_t r = 0; r < ranks(); ++r) {
    const auto* acks = reinterpret_cast<const uint64_t*>(block(r) + map().acks);
    if (std::any_of(acks, acks + words, [](uint64_t word) { return word != 0; })) return true;
  }
  return false;
}

Rehearsal::Piece Rehearsal::piece(uint32_t owner, uint64_t offset, uint64_t bytes) const {
  return {owner, offset, {block(owner) + offset, bytes}};
}

// Flags that `rank` raises for itself.
void Rehearsal::forget_words_of(uint32_t rank) {
  const snac::CallParams& p = launches_[rank].params;
  for (uint32_t step = 0; step < 2; ++step)
    for (uint32_t slot = 0; slot < p.geometry.slots; ++slot) {
      *snac::flag_at(p, rank, kEpoch, step, rank, slot) = 0;
      *snac::own_flag_at(p, kEpoch, rank, slot) = 0;
    }
  std::memset(block(rank) + map().own, 0, 2 * map().flag_words * sizeof(uint64_t));
}

// What it stages itself, within its own memory.
void Rehearsal::forget_staging_of(uint32_t rank) {
  const Launch& launch = launches_[rank];
  const snac::Geometry& geometry = launch.params.geometry;
  for (uint32_t step = 0; step < launch.form.steps; ++step) {
    const bool push = geometry.direction[step] == snac::Direction::kPush;
    const uint32_t streams = push ? 1 : launch.form.shared[step] ? 1 : ranks();
    snac::u8* begin = snac::slot_at(launch.params, kEpoch, step, rank, push ? rank : 0,
                                    launch.form.shared[step] && !push, 0);
    std::memset(begin, kNeverStaged, (uint64_t{streams} * geometry.slots) << geometry.chunk_shift);
  }
}

std::vector<Rehearsal::Piece> Rehearsal::found_by(uint32_t rank) {
  const Launch& launch = launches_[rank];
  forget_words_of(rank);
  std::vector<Piece> pieces = {piece(rank, map().epochs, map().pair_words - map().epochs)};
  if (launch.packets) {
    const uint64_t half = ranks() * map().packets_per_source * sizeof(purlin_packet);
    pieces.push_back(piece(rank, map().packets + snac::half_of(kEpoch) * half, half));
  }
  if (!launch.chunks) return pieces;
  forget_staging_of(rank);
  const uint64_t half = map().staging + snac::half_of(kEpoch) * map().staging_bytes;
  bool pulls = false;
  for (uint32_t step = 0; step < launch.form.steps; ++step)
    pulls = pulls || launch.params.geometry.direction[step] == snac::Direction::kPull;
  for (uint32_t owner = 0; owner < ranks(); ++owner)
    if (owner == rank || pulls) pieces.push_back(piece(owner, half, map().staging_bytes));
  return pieces;
}

}  // namespace purlin
