// What the ranks of one call write to each other, found by carrying the call out on host threads,
// so that one rank can be run by itself afterwards. The wire is the same on host and GPU.
#pragma once

#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "communicator/launch.h"
#include "status/status.h"

namespace purlin {

class Rehearsal {
 public:
  // `launches`: the call as every rank prepares it, buffers in host memory; results are written
  // there. The epoch is 1. Errors: what stopped the ranks; PURLIN_UNSUPPORTED where staging is used more than
  // once, since what lay there first is gone.
  static Result<Rehearsal> carry_out(std::vector<Launch> launches, const purlin_host_atom& atom,
                                     const std::string& name);

  // Bytes that belong at `offset` of a rank's block. They live as long as the rehearsal.
  struct Piece {
    uint32_t owner = 0;
    uint64_t offset = 0;
    std::span<const snac::u8> bytes;
  };
  // What `rank` must find before it runs alone: all that peers write, nothing that it writes
  // itself, and the epoch 0. At most once.
  std::vector<Piece> found_by(uint32_t rank);

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };

  explicit Rehearsal(std::vector<Launch> launches);
  uint32_t ranks() const { return launches_[0].params.nranks; }
  const snac::WireMap& map() const { return launches_[0].params.map; }
  snac::u8* block(uint32_t rank) const { return blocks_.get() + rank * map().total; }
  bool run(const Launch& launch, const purlin_host_atom& atom) const;
  bool reuses_slots() const;
  void forget_words_of(uint32_t rank);
  void forget_staging_of(uint32_t rank);
  Piece piece(uint32_t owner, uint64_t offset, uint64_t bytes) const;

  std::vector<Launch> launches_;
  std::vector<snac::Control> controls_;
  std::unique_ptr<snac::u8, Free> blocks_;  // zeroed when first touched
};

}  // namespace purlin
