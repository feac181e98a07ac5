// What SNAC does with words, packets and 8 bytes of a buffer on a GPU, through an Atom.
#pragma once

#include "purlin/device_abi.cuh"
#include "snac/header.h"

namespace purlin::snac {

class DeviceBlocks {
 public:
  static constexpr u32 kBlockBytes = 8;
  using Block = kit::Words8;

  __device__ void signal(u64* word, u64 value) {
    purlin_atom_signal_d2(reinterpret_cast<unsigned long long*>(word), value);
  }
  __device__ u64 observe(const u64* word) {
    return purlin_atom_observe_d2(reinterpret_cast<const unsigned long long*>(word));
  }
  __device__ void send_word(purlin_packet* slot, u64 payload, u64 tag) {
    purlin_atom_send_packet_d2(slot, payload, tag);
  }
  __device__ u64 read_packet(const purlin_packet* slot, u64* payload) {
    unsigned long long value = 0;
    const u64 tag = purlin_atom_read_packet_d2(slot, &value);
    *payload = value;
    return tag;
  }

  // The aligned words that hold a block's bytes, wherever they begin; no word without a wanted byte is
  // touched. Loads without a branch, so that those of several blocks are under way together.
  struct Raw {
    u64 low = 0;
    u64 high = 0;
  };
  __device__ void fetch(Raw& raw, const u8* from, u32 bytes) {
    const u64 word = reinterpret_cast<u64>(from) & ~u64{7};
    const u32 ends = (static_cast<u32>(reinterpret_cast<u64>(from)) & 7) + bytes;
    asm volatile(
        "{ .reg .pred p, q; setp.ne.u32 p, %3, 0; setp.gt.u32 q, %4, 8;\n"
        "  @p ld.global.u64 %0, [%2]; @q ld.global.u64 %1, [%2 + 8]; }"
        : "+l"(raw.low), "+l"(raw.high)
        : "l"(word), "r"(bytes), "r"(ends)
        : "memory");
  }
  // Neighbours' bytes are shifted out.
  __device__ void finish(Block& block, const Raw& raw, const u8* from, u32 bytes) {
    const u32 ahead = static_cast<u32>(reinterpret_cast<u64>(from)) & 7;
    u64 value = raw.low >> (8 * ahead);
    if (ahead + bytes > 8) value |= raw.high << (64 - 8 * ahead);
    set(block, value);
  }
  __device__ void load(Block& block, const u8* from, u32 bytes) {
    Raw raw;
    fetch(raw, from, bytes);
    finish(block, raw, from, bytes);
  }
  __device__ void store(u8* to, const Block& block, u32 bytes) {
    if (bytes == 8 && (reinterpret_cast<u64>(to) & 7) == 0) {
      *reinterpret_cast<uint2*>(to) = make_uint2(block.word[0], block.word[1]);
      return;
    }
    u64 value = get(block);
    PURLIN_NO_UNROLL
    for (u32 i = 0; i < bytes; ++i, value >>= 8) to[i] = static_cast<u8>(value);
  }
  __device__ void slice(Block& piece, const Block& whole, u64 offset, u64) {
    set(piece, get(whole) >> (8 * offset));
  }
  __device__ void send_block(purlin_packet* slot, const Block& block, u32 bytes, u64 tag) {
    // A tail's surplus bytes are whatever the register holds; the receiver drops them.
    (void)bytes;
    purlin_atom_send_packet_d2(slot, get(block), tag);
  }
  __device__ void move(Block& to, const Block& from) { to = from; }

 protected:
  __device__ static void set(Block& block, u64 value) {
    block.word[0] = static_cast<u32>(value);
    block.word[1] = static_cast<u32>(value >> 32);
  }
  __device__ static u64 get(const Block& block) {
    return block.word[0] | static_cast<u64>(block.word[1]) << 32;
  }
};

}  // namespace purlin::snac
