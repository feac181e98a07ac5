// What SNAC does with words, packets and blocks of packets on the host, through a host Atom.
#pragma once

#include <cstring>

#include "snac/header.h"

namespace purlin::snac {

class HostBlocks {
 public:
  static constexpr u32 kBlockBytes = 512;

  // Bytes of one block; `data` points to them, in place or in `own`.
  struct Block {
    const u8* data;
    alignas(16) u8 own[kBlockBytes];
    Block() : data(nullptr) {}  // `own` is unset on purpose: it is large, and filled before use
  };

  // The packets of one block as they arrive.
  class PacketReader {
   public:
    // All references must outlive the reader; `block` is filled by poll.
    PacketReader(const HostBlocks& blocks, const Expected& expected, Block* block)
        : atom_(blocks.atom_), expected_(expected), block_(*block) {
      block_.data = block_.own;
    }
    // Takes what has arrived. Whether all has.
    bool poll() {
      arrived_ = atom_.receive_packets(expected_.slots, block_.own, expected_.bytes, expected_.tag,
                                       arrived_);
      return arrived_ == divide_up(expected_.bytes, 8);
    }

   private:
    const purlin_host_atom& atom_;
    const Expected& expected_;
    Block& block_;
    u64 arrived_ = 0;
  };

  // Both references must outlive the object.
  HostBlocks(const purlin_host_atom& atom, const purlin_constants& constants)
      : atom_(atom), constants_(constants) {}

  u32 lane() const { return 0; }
  u32 lanes() const { return 1; }
  u32 first_block() const { return 0; }
  u32 block_stride() const { return 1; }
  const purlin_host_atom& atom() const { return atom_; }
  const purlin_constants& constants() const { return constants_; }

  void signal(u64* word, u64 value) { atom_.signal(word, value); }
  u64 observe(const u64* word) { return atom_.observe(word); }

  void send_word(purlin_packet* slot, u64 payload, u64 tag) {
    atom_.send_packets(slot, &payload, sizeof payload, tag);
  }
  // The packet's tag, read with acquire, and its payload.
  u64 read_packet(const purlin_packet* slot, u64* payload) {
    const u64 tag = atom_.observe(&slot->tag);
    *payload = __atomic_load_n(&slot->payload, __ATOMIC_RELAXED);
    return tag;
  }

  // A block is read where it lies, so that nothing is fetched ahead.
  struct Raw {};
  void fetch(Raw&, const u8*, u64) {}
  void finish(Block& block, const Raw&, const u8* from, u64) { block.data = from; }
  void load(Block& block, const u8* from, u64) { block.data = from; }
  void scale(Block& block, u64 bytes) {
    atom_.scale(constants_.dtype, block.data, &constants_.scalar, block.own, bytes);
    block.data = block.own;
  }
  void slice(Block& piece, const Block& whole, u64 offset, u64) {
    piece.data = whole.data + offset;
  }
  void store(u8* to, const Block& block, u64 bytes) { std::memcpy(to, block.data, bytes); }
  void send_block(purlin_packet* slots, const Block& block, u64 bytes, u64 tag) {
    atom_.send_packets(slots, block.data, bytes, tag);
  }
  void move(Block& to, const Block& from) { to.data = from.data; }
  // blocks[0] becomes the combination of all.
  void reduce(Block* blocks, u32 sources, u64 bytes) {
    const void* from[kMaxRanks];
    for (u32 s = 0; s < sources; ++s) from[s] = blocks[s].data;
    atom_.reduce(&constants_, from, sources, blocks[0].own, bytes);
    blocks[0].data = blocks[0].own;
  }

 private:
  const purlin_host_atom& atom_;
  const purlin_constants& constants_;
};

}  // namespace purlin::snac
