// A launch as the one argument of its kernel.
#pragma once

#include <algorithm>
#include <iterator>

#include "communicator/cuda_grid.h"
#include "communicator/pair_launch.h"
#include "program/protocol_program.h"

namespace purlin {

using DeviceParams = snac::CallParamsOf<kDeviceRanks>;
using DevicePairParams = snac::InlinePairParamsOf<kDeviceRanks>;

// The same call with room for another number of ranks; at most kTo of them.
template <uint32_t kTo, uint32_t kFrom>
snac::CallParamsOf<kTo> with_room(const snac::CallParamsOf<kFrom>& p) {
  snac::CallParamsOf<kTo> d;
  d.nranks = p.nranks;
  d.rank = p.rank;
  d.epoch_words = p.epoch_words;
  d.epoch_goes_on = p.epoch_goes_on;
  d.scaled = p.scaled;
  d.exchange_in_place = p.exchange_in_place;
  std::copy(std::begin(p.ctas), std::end(p.ctas), d.ctas);
  d.dtype = p.dtype;
  d.op = p.op;
  d.pair_limit = p.pair_limit;
  std::copy(std::begin(p.longest_sent), std::end(p.longest_sent), d.longest_sent);
  std::copy(std::begin(p.longest_received), std::end(p.longest_received), d.longest_received);
  d.descriptor = p.descriptor;
  d.timeout_ns = p.timeout_ns;
  std::copy(std::begin(p.place), std::end(p.place), d.place);
  d.scalar = p.scalar;
  d.in = p.in;
  d.out = p.out;
  d.geometry = p.geometry;
  d.map = p.map;
  d.own = p.own;
  d.share_bytes = p.share_bytes;
  d.part_bytes = p.part_bytes;
  d.controls = p.controls;
  d.replica = p.replica;
  d.view = p.view;
  for (uint32_t r = 0; r < p.nranks; ++r) {
    d.peers[r] = p.peers[r];
    d.send_signature[r] = p.send_signature[r];
    d.receive_signature[r] = p.receive_signature[r];
    for (uint32_t step = 0; step < 2; ++step) {
      d.send[step][r] = p.send[step][r];
      d.receive[step][r] = p.receive[step][r];
    }
  }
  d.listed = p.listed;
  return d;
}

// `epoch_words`: of the wire.
DeviceParams device_params(const snac::CallParams& p, uint32_t epoch_words, const Ctas& ctas);
// `ctas`: of each stream. At most DevicePairParams::kMostMessages messages.
DevicePairParams device_pair_params(const PairLaunch& call, uint32_t ctas);

}  // namespace purlin
