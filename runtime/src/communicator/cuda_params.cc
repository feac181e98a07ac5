#include "communicator/cuda_params.h"

#include <algorithm>

namespace purlin {

DeviceParams device_params(const snac::CallParams& p, uint32_t epoch_words, const Ctas& ctas) {
  auto d = with_room<kDeviceRanks>(p);
  d.epoch_words = epoch_words;
  for (uint32_t step = 0; step < 2; ++step) {
    for (uint32_t r = 0; r < p.nranks; ++r) {
      const uint64_t sent = p.send[step][r].bytes, received = p.receive[step][r].bytes;
      const uint64_t limit = std::min(p.pair_limit, snac::kMostByPackets);
      if (r != p.rank && sent <= limit)
        d.longest_sent[step] = std::max(d.longest_sent[step], static_cast<uint32_t>(sent));
      if (received <= limit)
        d.longest_received[step] =
            std::max(d.longest_received[step], static_cast<uint32_t>(received));
    }
  }
  std::copy(ctas.roles.begin(), ctas.roles.end(), d.ctas);
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
