// A buffer of more than 4 GiB that needs little memory: one small file mapped again and again, but
// for windows of its own memory where 32-bit offsets would wrap, and at both ends.
#pragma once

#include <cstdint>
#include <vector>

namespace purlin::test {

class Vast {
 public:
  // What byte `offset` holds: a pattern that repeats with the file, begun at `phase`.
  static unsigned char content(uint64_t offset, uint64_t phase);

  // `real`: memory of its own for every byte.
  Vast(uint64_t bytes, bool real);
  ~Vast();
  Vast(const Vast&) = delete;
  Vast& operator=(const Vast&) = delete;

  unsigned char* data() { return data_; }
  bool mapped() const { return data_ != nullptr; }
  // Every byte x becomes content(x, phase); or `poison`.
  void fill(uint64_t phase);
  void poison();
  // Offset of the first byte that is not `times` its content, or the buffer's length. Looks at the
  // windows and at the file; at everything when it is real.
  uint64_t first_wrong(uint64_t phase, unsigned times) const;

 private:
  struct Range {
    uint64_t begin, end;
  };
  // Calls act(offset, pattern, bytes) for pieces that lie within one repetition of `pattern`, until
  // it returns false.
  template <class Do>
  void each_piece(const std::vector<unsigned char>& pattern, Do act) const;

  uint64_t bytes_, span_;
  bool real_;
  unsigned char* data_ = nullptr;
  std::vector<Range> windows_;
};

}  // namespace purlin::test
