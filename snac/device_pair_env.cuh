// The environment in which send and receive run on a GPU: a CTA serves one part of one stream, and its
// threads are the lanes.
#pragma once

#include "snac/device_waiter.cuh"
#include "snac/pairwise.h"

namespace purlin::snac {

using DevicePairParams = InlinePairParamsOf<PURLIN_DEVICE_MAX_RANKS>;
static_assert(sizeof(DevicePairParams) < 32'000);  // of a kernel's parameters

class DevicePairEnv : public DeviceWaiter<DevicePairParams> {
 public:
  using Params = DevicePairParams;

  __device__ explicit DevicePairEnv(const Params& params) : DeviceWaiter(params) {}

  __device__ u32 lane() const { return threadIdx.x; }
  __device__ u32 lanes() const { return blockDim.x; }
  __device__ bool all(bool good) const { return __syncthreads_and(good) != 0; }

  template <class Poll>
  __device__ bool wait(Poll poll, const PairSite& site) {
    return wait_until(poll, [&](u64 begin) { return go_on(site, begin); });
  }
  // `look` sees a header that contradicts the message, and stops the rank.
  template <class Look>
  __device__ bool receive_block(const Expected& expected, Block& block, Look look,
                                const PairSite& site) {
    u64 payload = 0;
    const bool here = wait_until(
        [&] { return read_packet(expected.slots, &payload) == expected.tag; },
        [&](u64 begin) { return look() && go_on(site, begin); });
    set(block, payload);
    return here;
  }

 private:
  __device__ bool go_on(const PairSite& site, u64 begin) {
    StopRecord record;
    record.kind = StopKind::kTold;
    record.rank = p_.rank;
    record.peer = site.peer;
    record.step = static_cast<u32>(site.side);
    record.epoch = site.unit;
    record.chunk = site.chunk;
    record.expected_call = site.descriptor;
    if (!stopped()) {
      if (is_in_next_collective(site.peer, &record.found_call)) {
        record.kind = StopKind::kMismatch;
      } else {
        const u64 waited = now() - begin;
        if (waited < p_.timeout_ns) return true;
        record.kind = StopKind::kTimeout;
      }
    }
    stop(record);
    return false;
  }
  // A peer that is in the collective after this launch waits there for us: what we wait for will never
  // come.
  __device__ bool is_in_next_collective(u32 peer, u64* call) {
    const u64 epoch =
        load_relaxed(*reinterpret_cast<u64*>(p_.peers[p_.rank] + p_.map.epochs)) + 1;
    const Header* header = reinterpret_cast<const Header*>(p_.peers[p_.rank] + p_.map.headers) +
                           (half_of(epoch) * p_.nranks + peer);
    return tag_epoch(read_packet(&header->call, call)) == epoch;
  }
};

}  // namespace purlin::snac
