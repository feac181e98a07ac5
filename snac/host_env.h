// The environment in which SNAC runs on the host: a rank is one thread, a wait spins, then yields,
// then sleeps on a futex in the rank's own memory, and an Atom is a function table.
#pragma once

#include <chrono>
#include <cstring>
#include <functional>

#include "snac/header.h"

namespace purlin::snac {

// What a waiting host rank does before it yields and before it sleeps. Counts of polls.
struct HostPatience {
  u32 spins = 4000;
  u32 yields = 200;
};

// Asked now and then by a rank that waits: whether `peer` has left for good, so that what has not
// arrived never will. May be empty.
using PeerLeft = std::function<bool(u32 peer)>;

// Leaves `record` in the memory of `rank` (the first one wins), then stops that rank and all peers.
// `peers` holds the mapped base of every rank's memory. From any thread.
void stop_ranks(Control* controls, u32 nranks, u32 rank, const StopRecord& record);

class HostEnv {
 public:
  using Params = CallParams;
  static constexpr u64 kBlockBytes = 512;
  static constexpr u32 kMaxSources = kMaxRanks;

  // Bytes of one block; `data` points to them, in place or in `own`.
  struct Block {
    const u8* data;
    alignas(16) u8 own[kBlockBytes];
    Block() {}  // left unset on purpose: blocks are large and always filled before use
  };

  // All references must outlive the env. One env serves one call on one thread.
  HostEnv(const Form& form, const CallParams& params, const purlin_host_atom& atom,
          const purlin_constants& constants, HostPatience patience, const PeerLeft* peer_left,
          u64 epoch)
      : form_(form),
        p_(params),
        atom_(atom),
        constants_(constants),
        patience_(patience),
        peer_left_(peer_left),
        epoch_(epoch) {}

  const Form& form() const { return form_; }
  const Extent& send(u32 step, u32 peer) const { return p_.send[step][peer]; }
  const Extent& receive(u32 step, u32 peer) const { return p_.receive[step][peer]; }
  u32 send_signature(u32 peer) const { return p_.send_signature[peer]; }
  u32 receive_signature(u32 peer) const { return p_.receive_signature[peer]; }
  u32 nranks() const { return p_.nranks; }
  u32 lane() const { return 0; }
  u32 lanes() const { return 1; }
  u64 first_block() const { return 0; }
  u64 block_stride() const { return 1; }
  const purlin_host_atom& atom() const { return atom_; }
  const purlin_constants& constants() const { return constants_; }

  // ---- Words and packets -----------------------------------------------------------------------

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
  // Fills blocks[i] for each bit i of `wanted` that is set, from where expected(i) says; the other
  // blocks stay as they are. False: stop.
  template <class From>
  bool receive_all(u64 wanted, From expected, Block* blocks, u32 count) {
    for (u32 i = 0; i < count; ++i)
      if ((wanted >> i & 1) != 0 && !receive_block(expected(i), blocks[i])) return false;
    return true;
  }
  void move(Block& to, const Block& from) { to.data = from.data; }
  // blocks[0] becomes the combination of all.
  void reduce(Block* blocks, u32 sources, u64 bytes) {
    const void* from[kMaxRanks];
    for (u32 s = 0; s < sources; ++s) from[s] = blocks[s].data;
    atom_.reduce(&constants_, from, sources, blocks[0].own, bytes);
    blocks[0].data = blocks[0].own;
  }

  // ---- Waiting and stopping --------------------------------------------------------------------

  bool stopped() const {
    return __atomic_load_n(&control_of(p_, p_.rank)->stop, __ATOMIC_RELAXED) != 0;
  }

  // Calls `poll` until it returns true; false when the rank must stop.
  template <class Poll>
  bool wait(Poll poll, Site site) {
    for (u32 i = 0; i < patience_.spins; ++i) {
      if (poll()) return go_on(site);
      relax();
      if (i % 64 == 63 && !go_on(site)) return false;
    }
    return wait_slowly(poll, site);
  }

  // Wakes `peer` if it sleeps. Missing a peer that is just falling asleep is harmless: sleeps are
  // short.
  void ring(u32 peer);

  // Records why this rank stops (the first reason wins), stops itself and tells all peers.
  void stop(const StopRecord& record);

 private:
  bool receive_block(const Expected& expected, Block& block) {
    block.data = block.own;
    const u64 packets = divide_up(expected.bytes, 8);
    u64 arrived = atom_.receive_packets(expected.slots, block.own, expected.bytes, expected.tag, 0);
    if (arrived == packets) return true;
    return wait(
        [&] {
          arrived = atom_.receive_packets(expected.slots, block.own, expected.bytes, expected.tag,
                                          arrived);
          return arrived == packets;
        },
        expected.site);
  }

  template <class Poll>
  bool wait_slowly(Poll poll, Site site) {
    const auto begin = std::chrono::steady_clock::now();
    for (u32 round = 0;; ++round) {
      if (poll()) return go_on(site);
      if (!go_on(site) || disagrees(site.peer)) return false;
      // Asked before the last poll: what a peer sent before it left is there by then.
      const StopKind hopeless = hopeless_because(site.peer, begin);
      if (hopeless != StopKind::kNone) {
        if (poll()) return go_on(site);
        give_up(hopeless, site);
        return false;
      }
      if (round < patience_.yields)
        yield();
      else if (sleep_unless(poll))
        return go_on(site);
    }
  }
  // Announces the sleep, polls once more, sleeps at most a millisecond. True: the poll succeeded.
  template <class Poll>
  bool sleep_unless(Poll poll) {
    const u32 seen = prepare_sleep();
    const bool arrived = poll();
    if (!arrived && !stopped()) sleep(seen);
    end_sleep();
    return arrived;
  }

  // Whether no stop was asked for; notes where this rank stood if one was.
  bool go_on(Site site) {
    if (!stopped()) return true;
    note_stop(site);
    return false;
  }
  void note_stop(Site site);
  StopRecord record_at(StopKind kind, Site site) const;
  // Why waiting for `peer` any longer is in vain, or kNone.
  StopKind hopeless_because(u32 peer, std::chrono::steady_clock::time_point begin) const;
  void give_up(StopKind kind, Site site) { stop(record_at(kind, site)); }
  bool disagrees(u32 peer);
  u32 prepare_sleep();
  void sleep(u32 seen);
  void end_sleep();
  static void relax();
  static void yield();

  const Form& form_;
  const CallParams& p_;
  const purlin_host_atom& atom_;
  const purlin_constants& constants_;
  const HostPatience patience_;
  const PeerLeft* const peer_left_;
  const u64 epoch_;
};

}  // namespace purlin::snac
