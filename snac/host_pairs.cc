#include "snac/host_pairs.h"

#include <vector>

namespace purlin::snac {
namespace {

using Stream = PairStream<HostPairEnv>;

int segment_of(void* snac, std::uint64_t index, purlin_segment* out) {
  return static_cast<Stream*>(snac)->segment(index, out) ? 1 : 0;
}
int ready_of(void* snac, std::uint64_t index) {
  return static_cast<Stream*>(snac)->ready(index) ? 0 : 1;
}
void done_of(void* snac, std::uint64_t index) { static_cast<Stream*>(snac)->done(index); }

constexpr purlin_snac_calls kCalls = {sizeof(purlin_snac_calls), 0, segment_of, ready_of, done_of};

// Own copies first, then by distance: receive from rank - d, send to rank + d.
std::vector<Stream> streams_of(HostPairEnv& env, const PairParams& p) {
  std::vector<Stream> streams;
  const auto add = [&](PairSide side, u32 peer, const PairList& list) {
    if (list.count == 0) return;
    for (u32 part = 0; part < p.ctas; ++part) streams.emplace_back(env, p, side, peer, part);
  };
  add(PairSide::kSelf, p.rank, p.sends[p.rank]);
  for (u32 d = 1; d < p.nranks; ++d) {
    const u32 behind = (p.rank + p.nranks - d) % p.nranks;
    const u32 ahead = (p.rank + d) % p.nranks;
    add(PairSide::kReceive, behind, p.receives[behind]);
    add(PairSide::kSend, ahead, p.sends[ahead]);
  }
  return streams;
}

// Transfers what can go without waiting. kNotYet: nothing can.
UnitState go_on(Stream& stream, const HostPairs& call) {
  stream.open(call.params->slots);
  u64 ready = 0;
  for (; ready < stream.opened(); ++ready) {
    const UnitState state = stream.state(ready);
    if (state == UnitState::kStop) return state;
    if (state == UnitState::kNotYet) break;
  }
  if (ready == 0) return UnitState::kNotYet;
  if (stream.by_packets()) {
    ready = 1;
    if (!stream.transfer_packets()) return UnitState::kStop;
  } else {
    stream.open(ready);
    const purlin_group group = {sizeof(purlin_group), 0, 1, 0, nullptr, 0};
    if (call.atom->run(call.constants, &group, &kCalls, &stream) != 0) return UnitState::kStop;
  }
  stream.advance(ready);
  return UnitState::kReady;
}

}  // namespace

bool run_pairs(const HostPairs& call) {
  HostPairEnv env(*call.params, *call.atom, *call.constants, call.patience, call.peer_left,
                  call.next_epoch);
  std::vector<Stream> streams = streams_of(env, *call.params);
  while (true) {
    bool moved = false;
    const Stream* waiting = nullptr;
    for (Stream& stream : streams) {
      if (stream.finished()) continue;
      const UnitState state = go_on(stream, call);
      if (state == UnitState::kStop) return false;
      if (state == UnitState::kReady)
        moved = true;
      else if (waiting == nullptr)
        waiting = &stream;
    }
    if (waiting == nullptr && !moved) break;
    if (moved) continue;
    const auto any = [&] {
      for (Stream& stream : streams)
        if (!stream.finished() && stream.state(0) != UnitState::kNotYet) return true;
      return false;
    };
    if (!env.wait(any, waiting->site(0))) return false;
  }
  for (Stream& stream : streams) stream.leave();
  return true;
}

}  // namespace purlin::snac
