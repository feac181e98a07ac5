/* purlin/kit/multimem_device.cuh: accesses to multicast addresses, sm_90 and newer: loads that the switch
 * reduces, stores that it multiplies, and the fence between a memory's two addresses (PTX ISA,
 * "multimem" and "Proxies").
 *
 * What there is to reduce with, by dtype: sums of f16, bf16 (both in f32), f32, f64, integers of 32 and 64
 * bits; minimum and maximum of all of these but f32 and f64; and, for the family of sm_100 alone, all
 * three of fp8 (sums in f16). 8-bit integers there are none. An order is not promised.
 */
#ifndef PURLIN_KIT_MULTIMEM_DEVICE_CUH
#define PURLIN_KIT_MULTIMEM_DEVICE_CUH

#include "purlin/kit/words.h"

namespace purlin::kit {

/* Orders this thread's accesses through one address of a memory before those through another. */
static __device__ __forceinline__ void fence_aliases() {
  asm volatile("fence.proxy.alias;" ::: "memory");
}

/* `address` is a multicast address, a multiple of 16. Bits pass unchanged. */
static __device__ __forceinline__ void store_multimem16(uint64_t address, const Words16& v) {
  asm volatile("multimem.st.relaxed.sys.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(address),
               "f"(__uint_as_float(v.word[0])), "f"(__uint_as_float(v.word[1])),
               "f"(__uint_as_float(v.word[2])), "f"(__uint_as_float(v.word[3]))
               : "memory");
}

/* One load of four registers, two of one or four of one: OPERATION is what follows the scope. */
#define PURLIN_KIT_MULTIMEM_X4(OPERATION)                                             \
  asm volatile("multimem.ld_reduce.relaxed.sys.global." OPERATION " {%0, %1, %2, %3}, [%4];" \
               : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])   \
               : "l"(address)                                                         \
               : "memory")
#define PURLIN_KIT_MULTIMEM_32(OPERATION)                                         \
  for (uint32_t i = 0; i < 4; ++i)                                                \
  asm volatile("multimem.ld_reduce.relaxed.sys.global." OPERATION " %0, [%1];"    \
               : "=r"(v.word[i])                                                  \
               : "l"(address + 4 * i)                                             \
               : "memory")
#define PURLIN_KIT_MULTIMEM_64(OPERATION)                                         \
  for (uint32_t i = 0; i < 2; ++i) {                                              \
    uint64_t wide;                                                                \
    asm volatile("multimem.ld_reduce.relaxed.sys.global." OPERATION " %0, [%1];"  \
                 : "=l"(wide)                                                     \
                 : "l"(address + 8 * i)                                           \
                 : "memory");                                                     \
    v.word[2 * i] = static_cast<uint32_t>(wide);                                  \
    v.word[2 * i + 1] = static_cast<uint32_t>(wide >> 32);                        \
  }

static __device__ __forceinline__ Words16 add_multimem_f32(uint64_t address) {
  float f[4];
  asm volatile("multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(f[0]), "=f"(f[1]), "=f"(f[2]), "=f"(f[3])
               : "l"(address)
               : "memory");
  Words16 v;
  PURLIN_KIT_UNROLL
  for (int i = 0; i < 4; ++i) v.word[i] = __float_as_uint(f[i]);
  return v;
}
static __device__ __forceinline__ Words16 add_multimem_f64(uint64_t address) {
  Words16 v;
  PURLIN_KIT_UNROLL
  for (uint32_t i = 0; i < 2; ++i) {
    double wide;
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.f64 %0, [%1];"
                 : "=d"(wide)
                 : "l"(address + 8 * i)
                 : "memory");
    v.word[2 * i] = static_cast<uint32_t>(__double2loint(wide));
    v.word[2 * i + 1] = static_cast<uint32_t>(__double2hiint(wide));
  }
  return v;
}

/* Sums of unsigned and signed integers are the same bits. */
static __device__ __forceinline__ Words16 add_multimem(uint32_t dtype, uint64_t address) {
  Words16 v{};
  switch (dtype) {
    case PURLIN_F16: PURLIN_KIT_MULTIMEM_X4("add.acc::f32.v4.f16x2"); break;
    case PURLIN_BF16: PURLIN_KIT_MULTIMEM_X4("add.acc::f32.v4.bf16x2"); break;
    case PURLIN_F32: return add_multimem_f32(address);
    case PURLIN_F64: return add_multimem_f64(address);
    case PURLIN_I32:
    case PURLIN_U32: PURLIN_KIT_MULTIMEM_32("add.u32"); break;
    case PURLIN_I64:
    case PURLIN_U64: PURLIN_KIT_MULTIMEM_64("add.u64"); break;
  }
  return v;
}
#define PURLIN_KIT_MULTIMEM_EXTREME(NAME, OPERATION)                                         \
  static __device__ __forceinline__ Words16 NAME(uint32_t dtype, uint64_t address) {         \
    Words16 v{};                                                                             \
    switch (dtype) {                                                                         \
      case PURLIN_F16: PURLIN_KIT_MULTIMEM_X4(OPERATION ".v4.f16x2"); break;                 \
      case PURLIN_BF16: PURLIN_KIT_MULTIMEM_X4(OPERATION ".v4.bf16x2"); break;               \
      case PURLIN_I32: PURLIN_KIT_MULTIMEM_32(OPERATION ".s32"); break;                      \
      case PURLIN_U32: PURLIN_KIT_MULTIMEM_32(OPERATION ".u32"); break;                      \
      case PURLIN_I64: PURLIN_KIT_MULTIMEM_64(OPERATION ".s64"); break;                      \
      case PURLIN_U64: PURLIN_KIT_MULTIMEM_64(OPERATION ".u64"); break;                      \
    }                                                                                        \
    return v;                                                                                \
  }
PURLIN_KIT_MULTIMEM_EXTREME(min_multimem, "min")
PURLIN_KIT_MULTIMEM_EXTREME(max_multimem, "max")
#undef PURLIN_KIT_MULTIMEM_EXTREME

/* A template, so that only what asks for it holds the instructions. */
template <bool kFamilyOf100>
static __device__ __forceinline__ Words16 reduce_multimem_fp8(uint32_t dtype, uint32_t op,
                                                              uint64_t address) {
  Words16 v{};
  if constexpr (kFamilyOf100) {
    const bool four = dtype == PURLIN_F8E4M3;
    if (op == PURLIN_MIN) {
      if (four) PURLIN_KIT_MULTIMEM_X4("min.v4.e4m3x4");
      else PURLIN_KIT_MULTIMEM_X4("min.v4.e5m2x4");
    } else if (op == PURLIN_MAX) {
      if (four) PURLIN_KIT_MULTIMEM_X4("max.v4.e4m3x4");
      else PURLIN_KIT_MULTIMEM_X4("max.v4.e5m2x4");
    } else {
      if (four) PURLIN_KIT_MULTIMEM_X4("add.acc::f16.v4.e4m3x4");
      else PURLIN_KIT_MULTIMEM_X4("add.acc::f16.v4.e5m2x4");
    }
  }
  return v;
}
#undef PURLIN_KIT_MULTIMEM_64
#undef PURLIN_KIT_MULTIMEM_32
#undef PURLIN_KIT_MULTIMEM_X4

/* 16 bytes of all replicas, combined. `dtype` and `op` are link-time constants, of those above. */
template <bool kFamilyOf100>
static __device__ __forceinline__ Words16 reduce_multimem16(uint32_t dtype, uint32_t op,
                                                            uint64_t address) {
  if (dtype == PURLIN_F8E4M3 || dtype == PURLIN_F8E5M2)
    return reduce_multimem_fp8<kFamilyOf100>(dtype, op, address);
  if (op == PURLIN_MIN) return min_multimem(dtype, address);
  if (op == PURLIN_MAX) return max_multimem(dtype, address);
  return add_multimem(dtype, address);
}

}  // namespace purlin::kit

#endif  // PURLIN_KIT_MULTIMEM_DEVICE_CUH
