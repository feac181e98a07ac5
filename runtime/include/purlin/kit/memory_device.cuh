/* purlin/kit/memory_device.cuh: packets, flags and 16-byte accesses, for device code of Atoms.
 *
 * Packets and flags are what the PTX memory model (PTX ISA, "Memory Consistency Model") calls morally
 * strong: relaxed, release and acquire at system scope. Nothing here loads through the non-coherent
 * path: staging changes while a kernel runs.
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

/* 16 bytes of global memory at an aligned address. Volatile, so that no load moves before the wait
 * that permits it; loads in a row are all in flight together. */
static __device__ __forceinline__ Words16 load_global16(uint64_t from) {
  Words16 v;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
               : "l"(from));
  return v;
}
static __device__ __forceinline__ void store_global16(uint64_t to, const Words16& v) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v.word[0]), "r"(v.word[1]),
               "r"(v.word[2]), "r"(v.word[3])
               : "memory");
}
/* 32 bytes at an address that is a multiple of 32; sm_100 and newer. */
static __device__ __forceinline__ void store_global32(uint64_t to, const Words16& a, const Words16& b) {
  asm volatile("st.global.v8.b32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};" ::"l"(to), "r"(a.word[0]),
               "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b.word[0]), "r"(b.word[1]),
               "r"(b.word[2]), "r"(b.word[3])
               : "memory");
}

/* 16 bytes of shared memory. `from` is a shared address, aligned. Volatile like load_global16. */
static __device__ __forceinline__ Words16 load_shared16(uint32_t from) {
  Words16 v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
               : "r"(from));
  return v;
}
static __device__ __forceinline__ uint32_t load_shared_byte(uint32_t from) {
  uint32_t v;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(v) : "r"(from));
  return v;
}

}  // namespace purlin::kit

#endif  // PURLIN_KIT_MEMORY_DEVICE_CUH
