// Host memory with a guard zone on either side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "tools/outcome.h"

namespace purlin::tools {

// `bytes` bytes between two zones of at least kGuardBytes of a known pattern. Move only.
class GuardedBuffer {
 public:
  static constexpr uint64_t kGuardBytes = 4096;

  // data() is a multiple of 4096 plus `misalign`. Fails when memory is short.
  static Outcome<GuardedBuffer> make(uint64_t bytes, uint64_t misalign = 0);

  unsigned char* data() { return block_.get() + data_offset(); }
  const unsigned char* data() const { return block_.get() + data_offset(); }
  uint64_t bytes() const { return bytes_; }

  // The whole block, guards and all.
  unsigned char* block() const { return block_.get(); }
  uint64_t block_bytes() const { return total_; }
  uint64_t data_offset() const { return kGuardBytes + misalign_; }

  // Of data() and `so_far`: equal for equal bytes; any change of one byte changes it.
  uint64_t digest(uint64_t so_far) const;

  // Damaged guard bytes, and where the first lies relative to data() (negative: before it).
  struct Damage {
    uint64_t bytes = 0;
    int64_t first = 0;
  };
  Damage damage() const;

 private:
  struct Free {
    void operator()(unsigned char* block) const { std::free(block); }
  };
  static unsigned char pattern(uint64_t index) {
    return static_cast<unsigned char>(0xC6u ^ (index & 0x3Fu));
  }

  std::unique_ptr<unsigned char, Free> block_;
  uint64_t total_ = 0, bytes_ = 0, misalign_ = 0;
};

// One step of a digest. Invertible in either argument, so that a change of one is never lost.
constexpr uint64_t mix(uint64_t so_far, uint64_t word) {
  const uint64_t mixed = (so_far ^ word) * 0x9E3779B97F4A7C15u;
  return mixed ^ (mixed >> 29);
}

}  // namespace purlin::tools
