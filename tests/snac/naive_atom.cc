#include "naive_atom.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace purlin::test {
namespace {

using Byte = unsigned char;

void send_packets(purlin_packet* slots, const void* src, uint64_t bytes, uint64_t tag) {
  for (uint64_t i = 0; i * 8 < bytes; ++i) {
    uint64_t payload = 0;
    std::memcpy(&payload, static_cast<const Byte*>(src) + i * 8, std::min<uint64_t>(8, bytes - i * 8));
    __atomic_store_n(&slots[i].payload, payload, __ATOMIC_RELAXED);
    __atomic_store_n(&slots[i].tag, tag, __ATOMIC_RELEASE);
  }
}

uint64_t receive_packets(const purlin_packet* slots, void* dst, uint64_t bytes, uint64_t tag,
                         uint64_t first) {
  uint64_t i = first;
  for (; i * 8 < bytes; ++i) {
    if (__atomic_load_n(&slots[i].tag, __ATOMIC_ACQUIRE) != tag) break;
    const uint64_t payload = __atomic_load_n(&slots[i].payload, __ATOMIC_RELAXED);
    std::memcpy(static_cast<Byte*>(dst) + i * 8, &payload, std::min<uint64_t>(8, bytes - i * 8));
  }
  return i;
}

void signal_flag(uint64_t* flag, uint64_t value) { __atomic_store_n(flag, value, __ATOMIC_RELEASE); }
uint64_t observe_flag(const uint64_t* flag) { return __atomic_load_n(flag, __ATOMIC_ACQUIRE); }

void reduce(const purlin_constants*, const void* const* src, uint32_t nsrc, void* dst,
            uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; ++i) {
    Byte sum = 0;
    for (uint32_t s = 0; s < nsrc; ++s) sum = static_cast<Byte>(sum + static_cast<const Byte*>(src[s])[i]);
    static_cast<Byte*>(dst)[i] = sum;
  }
}

void scale(uint32_t, const void* src, const void* scalar, void* dst, uint64_t bytes) {
  const Byte factor = *static_cast<const Byte*>(scalar);
  for (uint64_t i = 0; i < bytes; ++i)
    static_cast<Byte*>(dst)[i] = static_cast<Byte>(static_cast<const Byte*>(src)[i] * factor);
}

int run(const purlin_constants* constants, const purlin_group*, const purlin_snac_calls* calls,
        void* snac) {
  purlin_segment segment;
  for (uint64_t i = 0; calls->segment(snac, i, &segment) != 0; ++i) {
    if (calls->ready(snac, i) != 0) return 1;
    std::vector<Byte> result(segment.bytes);
    if (segment.bytes != 0) {
      if (segment.consume == PURLIN_CONSUME_SCALE)
        scale(constants->dtype, segment.src[0], &constants->scalar, result.data(), segment.bytes);
      else
        reduce(constants, segment.src, segment.nsrc, result.data(), segment.bytes);
      for (uint32_t d = 0; d < segment.ndst; ++d)
        std::memcpy(segment.dst[d], result.data(), segment.bytes);
    }
    calls->done(snac, i);
  }
  return 0;
}

}  // namespace

const purlin_host_atom& naive_atom() {
  static const purlin_host_atom atom = {
      sizeof(purlin_host_atom), 0, run, send_packets, receive_packets, signal_flag, observe_flag,
      reduce, scale};
  return atom;
}

}  // namespace purlin::test
