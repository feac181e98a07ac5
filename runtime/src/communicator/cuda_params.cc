#include "communicator/cuda_params.h"

#include <algorithm>
#include <iterator>

namespace purlin {

DeviceParams device_params(const snac::CallParams& p, uint32_t epoch_words, const Ctas& ctas) {
  DeviceParams d;
  d.nranks = p.nranks;
  d.rank = p.rank;
  d.epoch_words = epoch_words;
  d.scaled = p.scaled;
  d.exchange_in_place = p.exchange_in_place;
  std::copy(ctas.roles.begin(), ctas.roles.end(), d.ctas);
  d.dtype = p.dtype;
  d.op = p.op;
  d.pair_limit = p.pair_limit;
  d.descriptor = p.descriptor;
  d.timeout_ns = p.timeout_ns;
  d.scalar = p.scalar;
  std::copy(std::begin(p.place), std::end(p.place), d.place);
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
  d.listed = p.listed;
  for (uint32_t r = 0; r < p.nranks; ++r) {
    d.peers[r] = p.peers[r];
    d.send_signature[r] = p.send_signature[r];
    d.receive_signature[r] = p.receive_signature[r];
    for (uint32_t step = 0; step < 2; ++step) {
      d.send[step][r] = p.send[step][r];
      d.receive[step][r] = p.receive[step][r];
    }
  }
  return d;
}

DevicePairParams device_pair_params(const PairLaunch& call, uint32_t ctas) {
  const snac::PairParams& p = call.params;
  DevicePairParams d;
  d.nranks = p.nranks;
  d.rank = p.rank;
  d.slots = p.slots;
  d.ctas = ctas;
  d.slot_bytes = p.slot_bytes;
  d.packet_bytes = p.packet_bytes;
  d.timeout_ns = p.timeout_ns;
  d.map = p.map;
  d.controls = p.controls;
  for (uint32_t r = 0; r < p.nranks; ++r) {
    d.peers[r] = p.peers[r];
    d.sends[r] = p.sends[r];
    d.receives[r] = p.receives[r];
  }
  std::copy(call.messages.begin(), call.messages.end(), d.list);
  return d;
}

}  // namespace purlin
