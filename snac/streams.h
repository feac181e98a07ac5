// The streams of chunks that the roles of the throughput protocol walk, on one CTA: between which
// ranks they are, how they are cut, and which chunks the CTA touches.
#pragma once

#include "snac/role_walk.h"
#include "snac/window.h"

namespace purlin::snac {

PURLIN_HD constexpr bool has_role(const Form& form, Role role) {
  if (role == Role::kStage || form.steps == 2) return true;
  return (role == Role::kReduce) == form.reduces;
}

// The role that consumes what is staged in `step`.
PURLIN_HD constexpr Role consumer_of(const Form& form, u32 step) {
  return step == 0 && (form.steps == 2 || form.reduces) ? Role::kReduce : Role::kGather;
}

template <class Env>
class Streams : public RoleWalk<Env> {
 public:
  using typename RoleWalk<Env>::Params;

  // Walks rounds [first_round, first_round + round_limit) of the role's chunks on CTA `cta` of the
  // role's p.ctas[role].
  PURLIN_HD Streams(Env& env, const Params& params, u64 epoch, Role role, u32 cta, u32 first_round,
                    u32 round_limit)
      : Base(env, params, epoch, role), shared_steps_(shared_steps_of(form_)) {
    const bool one = role == Role::kReduce || (role == Role::kStage && shared(kFirst));
    walk(one ? 1 : n_, cta, first_round, round_limit,
         [&](u32 stream) { return range_of(stream).end; });
  }

 protected:
  using Base = RoleWalk<Env>;
  using Base::env_, Base::epoch_, Base::form_, Base::kFirst, Base::kSecond, Base::n_, Base::p_,
      Base::peer_at, Base::peer_behind, Base::role_, Base::walk, Base::walk_;

  PURLIN_HD u32 taken_step() const { return form_.steps - 1; }  // the step that gather consumes
  // One stream for all consumers: only when they read it where it was staged.
  // A mask and no array, so that a step known only at run time leaves it in a register.
  PURLIN_HD bool shared(u32 step) const { return (shared_steps_ >> step & 1) != 0; }
  PURLIN_HD static u32 shared_steps_of(const Form& form) {
    return u32{form.shared[0] && !form.push[0]} | u32{form.shared[1] && !form.push[1]} << 1;
  }

  // Stream s of stage goes to rank + s, of gather comes from rank - s; 0 is own.
  PURLIN_HD u32 peer_of(u32 stream) const {
    return role_ == Role::kStage ? peer_at(stream) : peer_behind(stream);
  }

  // Whether own bytes of `step` are read where they lie, and where those of `peer` are: null if in
  // slots.
  PURLIN_HD bool offers_place(u32 step) const { return form_.windows && p_.place[step] != 0; }
  PURLIN_HD const u8* place_of(u32 step, u32 peer) const {
    return form_.windows ? env_.place(step, peer) : nullptr;
  }

  // Of a pair's bytes those that are staged: none when they went by packets.
  PURLIN_HD u64 staged(u64 bytes) const { return bytes > p_.pair_limit ? bytes : 0; }

  // Shares of several regions are all alike, so own sizes stand for every rank's.
  PURLIN_HD Cut cut_of(u32 stream) const {
    const u32 peer = peer_of(stream);
    u64 bytes = 0;
    if (role_ == Role::kReduce)
      bytes = reduced_bytes();
    else if (role_ == Role::kStage)
      bytes = offers_place(kFirst)           ? 0
              : shared(kFirst)               ? env_.own().bytes
              : peer != p_.rank || p_.scaled ? staged(env_.send(kFirst, peer).bytes)
                                             : 0;
    else if (form_.parts)
      bytes = env_.receive(kSecond, peer).bytes != 0 ? p_.share_bytes : 0;
    else
      bytes = staged(env_.receive(taken_step(), peer).bytes);
    return Cut{bytes, form_.parts ? p_.part_bytes : bytes, p_.geometry.chunk_shift};
  }

  // Bytes that the reduce role produces here.
  PURLIN_HD u64 reduced_bytes() const {
    if (form_.steps == 2) return p_.share_bytes;
    u64 bytes = 0;
    for (u32 s = 0; s < n_; ++s) bytes = larger(bytes, env_.receive(0, s).bytes);
    return bytes;
  }

  // Chunks of a stream that this role touches: all, but for gather from a share of several regions,
  // where only own region's chunks are.
  PURLIN_HD ChunkRange range_of(u32 stream) const {
    const Cut cut = cut_of(stream);
    if (role_ == Role::kGather && stream == 0 && takes_own_while_staging()) return {};
    if (role_ != Role::kGather || form_.steps == 1) return {0, cut.chunks()};
    if (peer_of(stream) == p_.rank || cut.bytes == 0) return {};
    if (!form_.parts) return {0, cut.chunks()};
    const u32 first = own_part() * cut.chunks_per_part();
    return {first, first + cut.chunks_per_part()};
  }

  // Whether own region goes to the output as it is staged, read once, rather than in the gather
  // role.
  PURLIN_HD bool takes_own_while_staging() const {
    if constexpr (Env::kTakesOwnWhileStaging)
      return form_.steps == 1 && !form_.reduces && shared(kFirst) && !offers_place(kFirst) &&
             env_.receive(kFirst, p_.rank).bytes != 0;
    else
      return false;
  }

  // Which region of every rank's share is for `consumer`.
  PURLIN_HD u32 part_of(u32 consumer) const {
    return static_cast<u32>(env_.send(kSecond, consumer).offset / p_.part_bytes);
  }
  PURLIN_HD u32 own_part() const { return part_of(p_.rank); }

  PURLIN_HD Item item_at(u32 index) const {
    Item item = walk_.at(index);
    if (item.valid) {
      const ChunkRange range = range_of(item.stream);
      item.valid = item.chunk >= range.begin && item.chunk < range.end;
    }
    return item;
  }

  PURLIN_HD u8* slot(u32 step, u32 stager, u32 consumer, u32 slot_index) const {
    return slot_at(p_, epoch_, step, stager, consumer, shared(step), slot_index);
  }

  const u32 shared_steps_;
};

}  // namespace purlin::snac
