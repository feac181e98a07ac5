// Streams of messages between ranks on threads, over plain memory: several parts of a stream, few
// slots, launches with changing numbers of parts.
#include <doctest/doctest.h>

#include <memory>
#include <random>
#include <thread>

#include "level.h"
#include "naive_atom.h"
#include "snac/host_pairs.h"

using namespace purlin::snac;
using namespace purlin::test;

namespace {

constexpr u32 kSlotBytes = 64, kPacketBytes = 128;

struct Message {
  u32 from, to;
  u64 bytes;
};

class Pairs {
 public:
  Pairs(u32 n, u32 slots) : n_(n), slots_(slots), controls_(n) {
    WireConfig config;
    config.nranks = n;
    config.latency_bytes = config.throughput_bytes = 64 * n;
    config.pair_slots = slots;
    config.pair_slot_bytes = kSlotBytes;
    config.pair_packet_bytes = kPacketBytes;
    map_ = map_wire(config);
    for (u32 r = 0; r < n; ++r)
      memory_.push_back(std::make_unique<Page[]>(map_.total / sizeof(Page)));
  }

  // Whether every rank finished and every byte is right.
  bool run(const std::vector<Message>& messages, u32 ctas) {
    std::vector<char> good(n_, 0);
    std::vector<std::thread> threads;
    for (u32 r = 0; r < n_; ++r)
      threads.emplace_back([&, r] { good[r] = run_rank(r, messages, ctas); });
    for (std::thread& thread : threads) thread.join();
    for (char g : good)
      if (g == 0) return false;
    return true;
  }

 private:
  struct alignas(4096) Page {
    u8 bytes[4096];
  };
  static u8 content(size_t message, u64 i) { return static_cast<u8>(message * 13 + i * 3 + 1); }

  bool run_rank(u32 r, const std::vector<Message>& messages, u32 ctas) {
    PairParams p;
    p.nranks = n_;
    p.rank = r;
    p.slots = slots_;
    p.ctas = ctas;
    p.slot_bytes = kSlotBytes;
    p.packet_bytes = kPacketBytes;
    p.timeout_ns = 20'000'000'000;
    p.map = map_;
    p.controls = controls_.data();
    for (u32 q = 0; q < n_; ++q) p.peers[q] = memory_[q][0].bytes;
    std::vector<PairMessage> table;
    std::vector<std::vector<u8>> buffers(messages.size() * 2);
    for (u32 peer = 0; peer < n_; ++peer) {
      p.sends[peer] = list(messages, r, peer, true, &buffers, &table);
      p.receives[peer] = list(messages, peer, r, false, &buffers, &table);
    }
    p.messages = table.data();
    purlin_constants constants{};
    constants.struct_size = sizeof constants;
    constants.nranks = n_;
    HostPairs call;
    call.params = &p;
    call.atom = &naive_atom();
    call.constants = &constants;
    call.patience = HostPatience{50, 20};
    call.next_epoch = 1;
    if (!run_pairs(call)) return false;
    for (size_t m = 0; m < messages.size(); ++m) {
      if (messages[m].to != r) continue;
      for (u64 i = 0; i < messages[m].bytes; ++i)
        if (buffers[m * 2 + 1][i] != content(m, i)) return false;
    }
    return true;
  }

  static PairList list(const std::vector<Message>& messages, u32 from, u32 to, bool sends,
                       std::vector<std::vector<u8>>* buffers, std::vector<PairMessage>* table) {
    PairList made;
    made.first = static_cast<u32>(table->size());
    for (size_t m = 0; m < messages.size(); ++m) {
      if (messages[m].from != from || messages[m].to != to) continue;
      std::vector<u8>& buffer = (*buffers)[m * 2 + (sends ? 0 : 1)];
      buffer.resize(messages[m].bytes + 1);
      for (u64 i = 0; sends && i < messages[m].bytes; ++i) buffer[i] = content(m, i);
      PairMessage one;
      one.buffer = buffer.data();
      one.bytes = messages[m].bytes;
      one.first_unit = made.units;
      one.signature = static_cast<u32>(messages[m].bytes & 0xffff);
      one.by_packets = from != to && one.bytes <= kPacketBytes / 2;
      if (one.bytes == 0) one.by_packets = 1;
      made.units += one.by_packets != 0 ? 1 : divide_up(one.bytes, kSlotBytes);
      ++made.count;
      table->push_back(one);
    }
    return made;
  }

  const u32 n_, slots_;
  WireMap map_;
  std::vector<Control> controls_;
  std::vector<std::unique_ptr<Page[]>> memory_;
};

}  // namespace

TEST_CASE("streams of changing numbers of parts carry on where the last launch ended") {
  std::mt19937_64 random(seed() * 7 + 3);
  for (u32 n : {2u, 3u, 5u}) {
    for (u32 slots : {2u, 4u, 6u}) {
      Pairs pairs(n, slots);
      for (int launch = 0; launch < 30; ++launch) {
        std::vector<Message> messages;
        for (u64 m = random() % 12; m > 0; --m)
          messages.push_back({static_cast<u32>(random() % n), static_cast<u32>(random() % n),
                              random() % 4 == 0 ? random() % 1000 : random() % 70});
        u32 ctas = 1 + static_cast<u32>(random() % slots);
        while (slots % ctas != 0) --ctas;
        CAPTURE(n);
        CAPTURE(slots);
        CAPTURE(ctas);
        CAPTURE(launch);
        REQUIRE(pairs.run(messages, ctas));
        count_cases(1);
      }
    }
  }
}
