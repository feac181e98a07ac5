// A role's walk over its streams of chunks on one CTA: what the protocols of roles have in common.
#pragma once

#include "snac/flow.h"
#include "snac/schedule.h"

namespace purlin::snac {

enum class Role : u32 { kStage = 0, kReduce = 1, kGather = 2 };

template <class Env>
class RoleWalk {
 public:
  using Params = typename Env::Params;

  PURLIN_HD const Params& params() const { return p_; }
  PURLIN_HD const Form& form() const { return form_; }

  // Rounds that the longest stream of this role has on this rank.
  PURLIN_HD u32 rounds() const { return walk_.first_round + walk_.rounds; }

 protected:
  static constexpr u32 kFirst = 0, kSecond = 1;

  PURLIN_HD RoleWalk(Env& env, const Params& params, u64 epoch, Role role)
      : env_(env), p_(params), form_(env.form()), n_(env.nranks()), epoch_(epoch), role_(role) {}

  // Walks rounds [first_round, first_round + round_limit) of `streams` streams on CTA `cta` of the
  // role's p.ctas[role]. `end_of`: one past a stream's last chunk. Returns the greatest.
  template <class EndOf>
  PURLIN_HD u32 walk(u32 streams, u32 cta, u32 first_round, u32 round_limit, EndOf end_of) {
    u32 end = 0;
    for (u32 s = 0; s < streams; ++s) {
      const u32 last = end_of(s);
      end = end > last ? end : last;
    }
    walk_ = Walk::make(streams, p_.geometry.slots, p_.ctas[static_cast<u32>(role_)], cta, end,
                       first_round, round_limit);
    size_ = walk_.size();
    return end;
  }

  PURLIN_HD u32 peer_at(u32 distance) const { return (p_.rank + distance) % n_; }
  PURLIN_HD u32 peer_behind(u32 distance) const { return (p_.rank + n_ - distance) % n_; }

  // One word that a segment waits for; null: nothing.
  struct Need {
    const u64* word = nullptr;
    u32 round = 0;
    Site site;
  };
  PURLIN_HD bool wait_for(const Need& need) {
    const u64 value = flag_value(epoch_, need.round);
    return env_.wait([&] { return env_.observe(need.word) >= value; }, need.site);
  }

  // A segment that moves nothing.
  PURLIN_HD void clear(purlin_segment* out) const {
    out->bytes = 0;
    out->nsrc = 1;
    out->ndst = 1;
    out->consume = PURLIN_CONSUME_COPY;
    out->kind = PURLIN_SEGMENT_UNICAST;
    out->src[0] = p_.in;
    out->dst[0] = p_.out;
  }

  Env& env_;
  const Params& p_;
  const Form form_;
  const u32 n_;
  const u64 epoch_;
  const Role role_;
  Walk walk_;
  u32 size_ = 0;
};

}  // namespace purlin::snac
