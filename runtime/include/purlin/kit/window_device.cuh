/* purlin/kit/window_device.cuh: 16 bytes at any address, and parts of them.
 *
 * A load takes the one or two aligned 16-byte words that hold a wanted byte and shifts; it never
 * touches a word without one, so never another page. A store writes exactly the wanted bytes.
 */
#ifndef PURLIN_KIT_WINDOW_DEVICE_CUH
#define PURLIN_KIT_WINDOW_DEVICE_CUH

#include "purlin/kit/cut.h"
#include "purlin/kit/memory_device.cuh"

namespace purlin::kit {

/* Bytes shift .. shift + 15 of the 32 bytes low, high; shift < 16. */
static __device__ __forceinline__ Words16 shift_bytes(const Words16& low, const Words16& high,
                                                      uint32_t shift) {
  const uint32_t w[8] = {low.word[0],  low.word[1],  low.word[2],  low.word[3],
                         high.word[0], high.word[1], high.word[2], high.word[3]};
  uint32_t by_two[6], by_one[5];
  PURLIN_KIT_UNROLL
  for (int i = 0; i < 6; ++i) by_two[i] = (shift & 8) != 0 ? w[i + 2] : w[i];
  PURLIN_KIT_UNROLL
  for (int i = 0; i < 5; ++i) by_one[i] = (shift & 4) != 0 ? by_two[i + 1] : by_two[i];
  Words16 out;
  PURLIN_KIT_UNROLL
  for (int i = 0; i < 4; ++i) out.word[i] = __funnelshift_r(by_one[i], by_one[i + 1], shift * 8 & 31);
  return out;
}

/* The 16 bytes at `from`, of which those of `window` are wanted and the others are anything. */
static __device__ __forceinline__ Words16 load_global_window(uint64_t from, const Window& window) {
  const uint32_t shift = static_cast<uint32_t>(from & 15);
  Words16 low{}, high{};
  if (window.lo + shift < 16) low = load_global16(from - shift);
  if (window.hi + shift > 16) high = load_global16(from - shift + 16);
  return shift_bytes(low, high, shift);
}

/* The same of shared memory, where neighbouring bytes may be read at will. */
static __device__ __forceinline__ Words16 load_shared_window(uint32_t from) {
  const uint32_t shift = from & 15;
  const Words16 low = load_shared16(from - shift);
  const Words16 high = shift != 0 ? load_shared16(from - shift + 16) : low;
  return shift_bytes(low, high, shift);
}

/* Writes the bytes of `window`, in the widest pieces that their place allows. */
static __device__ __forceinline__ void store_global_window(uint64_t to, const Words16& v,
                                                           const Window& window) {
  if (((to | window.lo | (window.hi ^ 16)) & 15) == 0) {
    store_global16(to, v);
    return;
  }
  const uint64_t low = v.word[0] | static_cast<uint64_t>(v.word[1]) << 32;
  const uint64_t high = v.word[2] | static_cast<uint64_t>(v.word[3]) << 32;
  const uint32_t place = static_cast<uint32_t>(to) | window.lo | window.hi;
  const uint32_t width = (place & 7) == 0 ? 8 : (place & 3) == 0 ? 4 : (place & 1) == 0 ? 2 : 1;
#pragma unroll 1
  for (uint32_t at = window.lo; at < window.hi; at += width) {
    const uint64_t value = (at < 8 ? low : high) >> (at * 8 & 63);
    if (width == 8) *reinterpret_cast<uint64_t*>(to + at) = value;
    else if (width == 4) *reinterpret_cast<uint32_t*>(to + at) = static_cast<uint32_t>(value);
    else if (width == 2) *reinterpret_cast<uint16_t*>(to + at) = static_cast<uint16_t>(value);
    else *reinterpret_cast<uint8_t*>(to + at) = static_cast<uint8_t>(value);
  }
}

}  // namespace purlin::kit

#endif  // PURLIN_KIT_WINDOW_DEVICE_CUH
