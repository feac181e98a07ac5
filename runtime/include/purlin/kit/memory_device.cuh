/* purlin/kit/memory_device.cuh: packets, flags and memory accesses of any alignment, for device code
 * of Atoms. Packets and flags are what the PTX memory model (PTX ISA, "Memory Consistency Model")
 * calls morally strong: relaxed, release and acquire at system scope.
 */
#ifndef PURLIN_KIT_MEMORY_DEVICE_CUH
#define PURLIN_KIT_MEMORY_DEVICE_CUH

#include "purlin/atom_abi.h"
#include "purlin/kit/words.h"

namespace purlin::kit {

/* One 128-bit access: payload and tag arrive together or not at all. */
static __device__ __forceinline__ void store_packet(purlin_packet* slot, unsigned long long payload,
                                                    unsigned long long tag) {
  asm volatile("{ .reg .b128 x; mov.b128 x, {%1, %2}; st.relaxed.sys.global.b128 [%0], x; }" ::"l"(slot),
               "l"(payload), "l"(tag)
               : "memory");
}
static __device__ __forceinline__ unsigned long long load_packet(const purlin_packet* slot,
                                                                 unsigned long long* payload) {
  unsigned long long value, tag;
  asm volatile("{ .reg .b128 x; ld.relaxed.sys.global.b128 x, [%2]; mov.b128 {%0, %1}, x; }"
               : "=l"(value), "=l"(tag)
               : "l"(slot)
               : "memory");
  *payload = value;
  return tag;
}

static __device__ __forceinline__ void store_release(unsigned long long* flag,
                                                     unsigned long long value) {
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(flag), "l"(value) : "memory");
}
static __device__ __forceinline__ unsigned long long load_acquire(const unsigned long long* flag) {
  unsigned long long value;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(flag) : "memory");
  return value;
}

/* Bytes shift .. shift + 15 of the 32 bytes low, high. */
static __device__ __forceinline__ Words16 shift_bytes(const Words16& low, const Words16& high,
                                                      unsigned shift) {
  const unsigned words[8] = {low.word[0],  low.word[1],  low.word[2],  low.word[3],
                             high.word[0], high.word[1], high.word[2], high.word[3]};
  Words16 out;
  const unsigned bits = (shift & 3) * 8;
  PURLIN_KIT_UNROLL
  for (int i = 0; i < 4; ++i) {
    unsigned a = words[i], b = words[i + 1];
    PURLIN_KIT_UNROLL
    for (int w = 1; w < 4; ++w) {
      if ((shift >> 2) == static_cast<unsigned>(w)) {
        a = words[i + w];
        b = words[i + w + 1 < 8 ? i + w + 1 : 7];
      }
    }
    out.word[i] = __funnelshift_r(a, b, bits);
  }
  return out;
}

static __device__ __forceinline__ Words16 load_aligned16(const void* from) {
  const uint4 v = *static_cast<const uint4*>(from);
  return Words16{{v.x, v.y, v.z, v.w}};
}

/* 16 bytes from any address. Reads the one or two aligned 16-byte words that hold them: never beyond
 * the 16-byte word of the last byte, so never another page. */
static __device__ __forceinline__ Words16 load16(const void* from) {
  const unsigned shift = static_cast<unsigned>(reinterpret_cast<uintptr_t>(from) & 15);
  const auto* base = reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(from) - shift);
  if (shift == 0) return load_aligned16(base);
  return shift_bytes(load_aligned16(base), load_aligned16(base + 16), shift);
}

/* 16 bytes to any address, in the widest pieces that its alignment allows. */
static __device__ __forceinline__ void store16(void* to, const Words16& v) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(to);
  if ((at & 15) == 0) {
    *static_cast<uint4*>(to) = make_uint4(v.word[0], v.word[1], v.word[2], v.word[3]);
  } else if ((at & 3) == 0) {
    PURLIN_KIT_UNROLL
    for (int i = 0; i < 4; ++i) static_cast<unsigned*>(to)[i] = v.word[i];
  } else {
    PURLIN_KIT_UNROLL
    for (int i = 0; i < 16; ++i)
      static_cast<unsigned char*>(to)[i] = static_cast<unsigned char>(v.word[i / 4] >> (i % 4 * 8));
  }
}

/* Fewer than 16 bytes, one by one; the rest of the words is zero, or dropped. */
static __device__ __forceinline__ Words16 load_tail(const void* from, unsigned bytes) {
  Words16 v{};
  PURLIN_KIT_UNROLL
  for (int i = 0; i < 16; ++i)
    if (static_cast<unsigned>(i) < bytes)
      v.word[i / 4] |= static_cast<unsigned>(static_cast<const unsigned char*>(from)[i]) << (i % 4 * 8);
  return v;
}
static __device__ __forceinline__ void store_tail(void* to, const Words16& v, unsigned bytes) {
  PURLIN_KIT_UNROLL
  for (int i = 0; i < 16; ++i)
    if (static_cast<unsigned>(i) < bytes)
      static_cast<unsigned char*>(to)[i] = static_cast<unsigned char>(v.word[i / 4] >> (i % 4 * 8));
}

}  // namespace purlin::kit

#endif  // PURLIN_KIT_MEMORY_DEVICE_CUH
