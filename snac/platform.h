// The seam between the host compiler and nvcc: names that both understand.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define PURLIN_HD __host__ __device__ __forceinline__
#define PURLIN_UNROLL _Pragma("unroll")
#define PURLIN_NO_UNROLL _Pragma("unroll 1")
#else
#define PURLIN_HD inline
#define PURLIN_UNROLL
#define PURLIN_NO_UNROLL
#endif

namespace purlin::snac {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Most ranks of one communicator; equals PURLIN_MAX_RANKS of the Atom ABI.
inline constexpr u32 kMaxRanks = 64;

// C++20's std::popcount is not callable from device code.
PURLIN_HD constexpr u32 count_bits(u64 bits) {
  u32 count = 0;
  for (; bits != 0; bits &= bits - 1) ++count;
  return count;
}

PURLIN_HD constexpr u64 divide_up(u64 a, u64 b) { return a / b + (a % b != 0 ? 1 : 0); }
PURLIN_HD constexpr u64 round_up(u64 a, u64 b) { return divide_up(a, b) * b; }
PURLIN_HD constexpr u64 smaller(u64 a, u64 b) { return a < b ? a : b; }
PURLIN_HD constexpr u64 larger(u64 a, u64 b) { return a > b ? a : b; }

}  // namespace purlin::snac
