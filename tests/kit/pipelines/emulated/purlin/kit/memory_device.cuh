// Twin of the kit's header for the emulated CTA: accesses to memory.
#pragma once

#include "purlin/kit/shared_device.cuh"
#include "purlin/kit/words.h"

namespace purlin::kit {

static inline void need_aligned(uint64_t address, uint64_t alignment) {
  if (address % alignment != 0) emulator::fail("an access that is not aligned");
}
static inline Words16 load_global16(uint64_t from) {
  need_aligned(from, 16);
  Words16 v;
  std::memcpy(&v, reinterpret_cast<const void*>(from), 16);
  return v;
}
static inline void store_global16(uint64_t to, const Words16& v) {
  need_aligned(to, 16);
  std::memcpy(reinterpret_cast<void*>(to), &v, 16);
}
static inline void store_global32(uint64_t to, const Words16& a, const Words16& b) {
  need_aligned(to, 32);
  store_global16(to, a);
  store_global16(to + 16, b);
}
static inline Words16 load_shared16(uint32_t from) {
  need_aligned(from, 16);
  Words16 v;
  std::memcpy(&v, emulator::shared_at(from, 16), 16);
  return v;
}
static inline uint32_t load_shared_byte(uint32_t from) {
  return *static_cast<const unsigned char*>(emulator::shared_at(from, 1));
}

}  // namespace purlin::kit
