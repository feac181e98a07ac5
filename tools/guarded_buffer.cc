#include "tools/guarded_buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace purlin::tools {

Outcome<GuardedBuffer> GuardedBuffer::make(uint64_t bytes, uint64_t misalign) {
  constexpr uint64_t kPage = 4096;
  GuardedBuffer made;
  made.bytes_ = bytes;
  made.misalign_ = misalign % kPage;
  const uint64_t used = kGuardBytes + made.misalign_ + bytes + kGuardBytes;
  made.total_ = (used + kPage - 1) / kPage * kPage;
  made.block_.reset(static_cast<unsigned char*>(std::aligned_alloc(kPage, made.total_)));
  if (!made.block_)
    return Error{
        fmt::format("a buffer of {} bytes cannot be allocated: memory is short; use fewer "
                    "ranks (-n) or a smaller end size (-e)",
                    bytes)};
  const uint64_t begin = made.data_offset();
  for (uint64_t i = 0; i < begin; ++i) made.block_.get()[i] = pattern(i);
  for (uint64_t i = begin + bytes; i < made.total_; ++i) made.block_.get()[i] = pattern(i);
  return made;
}

GuardedBuffer::Damage GuardedBuffer::damage() const {
  Damage found;
  const uint64_t begin = data_offset();
  const auto look = [&](uint64_t first, uint64_t last) {
    for (uint64_t i = first; i < last; ++i) {
      if (block_.get()[i] == pattern(i)) continue;
      if (found.bytes++ == 0) found.first = static_cast<int64_t>(i) - static_cast<int64_t>(begin);
    }
  };
  look(0, begin);
  look(begin + bytes_, total_);
  return found;
}

uint64_t GuardedBuffer::digest(uint64_t so_far) const {
  for (uint64_t at = 0; at < bytes_; at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, data() + at, std::min<uint64_t>(sizeof word, bytes_ - at));
    so_far = mix(so_far, word);
  }
  return mix(so_far, bytes_);
}

}  // namespace purlin::tools
