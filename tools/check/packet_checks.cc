// Packets and flags.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

#include "tools/check/elements.h"
#include "tools/check/host_checks.h"
#include "tools/guarded_buffer.h"

namespace purlin::tools::check {
namespace {

constexpr uint64_t kTag = 0x0123456789ABCDEF;
uint64_t packets_of(uint64_t bytes) { return (bytes + 7) / 8; }

// Slots of one message, on 16-byte boundaries, with one more behind the last.
std::vector<purlin_packet> stale_slots(uint64_t count, std::mt19937_64& random) {
  std::vector<purlin_packet> slots(count + 1);
  for (purlin_packet& slot : slots) slot = {random(), random() % 2 == 0 ? kTag - 1 : 0};
  return slots;
}

// Sends one message whole and receives it packet by packet, in an order that `random` picks. The
// fault in words.
std::string deliver(const purlin_host_atom& atom, uint64_t bytes, unsigned shift,
                    std::mt19937_64& random) {
  const Bytes content = wild_elements(PURLIN_U8, bytes, random);
  auto source = GuardedBuffer::make(bytes, shift);
  auto target = GuardedBuffer::make(bytes, 61 * shift % 64);
  if (!source || !target) throw std::bad_alloc();
  std::copy(content.begin(), content.end(), source->data());
  const uint64_t count = packets_of(bytes);
  std::vector<purlin_packet> sent = stale_slots(count, random);
  const purlin_packet behind = sent.back();
  atom.send_packets(sent.data(), source->data(), bytes, kTag);
  if (sent.back().tag != behind.tag || sent.back().payload != behind.payload)
    return "send_packets wrote beyond the last packet";
  for (uint64_t i = 0; i < count; ++i) {
    if (sent[i].tag != kTag) return fmt::format("send_packets left packet {} without its tag", i);
    uint64_t payload = 0;
    std::memcpy(&payload, content.data() + 8 * i, std::min<uint64_t>(8, bytes - 8 * i));
    if (sent[i].payload != payload)
      return fmt::format("payload of packet {} is {:016x}, should be {:016x}", i, sent[i].payload,
                         payload);
  }
  std::vector<purlin_packet> slots = stale_slots(count, random);
  std::vector<uint64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<bool> here(count + 1);
  uint64_t next = 0;
  std::fill_n(target->data(), bytes, static_cast<unsigned char>(0xCD));
  for (uint64_t step = 0; step <= count; ++step) {
    const uint64_t first_missing =
        static_cast<uint64_t>(std::find(here.begin(), here.end(), false) - here.begin());
    const uint64_t found = atom.receive_packets(slots.data(), target->data(), bytes, kTag, next);
    if (found != first_missing)
      return fmt::format(
          "receive_packets from packet {} returned {}, the first that is missing is {}", next,
          found, first_missing);
    const uint64_t taken = std::min(8 * found, bytes);
    if (!std::equal(content.begin(), content.begin() + static_cast<int64_t>(taken), target->data()))
      return fmt::format("after {} packets of {} the bytes are wrong", found, count);
    if (std::any_of(target->data() + taken, target->data() + bytes,
                    [](unsigned char b) { return b != 0xCD; }))
      return fmt::format("bytes of packets that have not arrived were written (at {} of {})", found,
                         count);
    next = found;
    if (step == count) break;
    slots[order[step]] = sent[order[step]];
    here[order[step]] = true;
  }
  if (target->damage().bytes != 0) return "receive_packets wrote outside its destination";
  return "";
}

// A writer and a reader on two threads: `write(round)` announces, `seen(round)` waits for it and
// says whether what came before it was there.
template <class Write, class Seen>
uint64_t disagreements(uint64_t rounds, const Write& write, const Seen& seen) {
  uint64_t wrong = 0;
  std::thread writer([&] {
    for (uint64_t round = 1; round <= rounds; ++round) write(round);
  });
  for (uint64_t round = 1; round <= rounds; ++round) wrong += seen(round) ? 0 : 1;
  writer.join();
  return wrong;
}

}  // namespace

Finding check_packets(const Subject& subject) {
  auto random = subject.random(kPackets);
  const purlin_host_atom& atom = *subject.descriptor->host;
  uint64_t cases = 0;
  for (uint64_t bytes = 0; bytes < 70; ++bytes) {
    for (unsigned shift = 0; shift < 17; shift += subject.full ? 1 : 4) {
      ++cases;
      if (const std::string fault = deliver(atom, bytes, shift, random); !fault.empty())
        return failed(fmt::format("message of {} bytes: {}", bytes, fault), cases);
    }
  }
  for (const uint64_t bytes : {1000u, 4099u}) {
    ++cases;
    if (const std::string fault = deliver(atom, bytes, 3, random); !fault.empty())
      return failed(fmt::format("message of {} bytes: {}", bytes, fault), cases);
  }
  return passed(cases);
}

Finding check_order(const Subject& subject) {
  const purlin_host_atom& atom = *subject.descriptor->host;
  const uint64_t rounds = subject.times(3000, 200000);
  constexpr uint64_t kWords = 24;
  alignas(64) uint64_t flag = 0;
  alignas(64) std::atomic<uint64_t> taken{0};
  std::vector<uint64_t> data(kWords);
  const auto wait_for_reader = [&](uint64_t round) {
    while (taken.load(std::memory_order_acquire) != round) std::this_thread::yield();
  };
  const auto all_are = [](const uint64_t* words, uint64_t value) {
    return std::all_of(words, words + kWords, [&](uint64_t word) { return word == value; });
  };
  uint64_t wrong = disagreements(
      rounds,
      [&](uint64_t round) {
        std::fill(data.begin(), data.end(), round * 3);
        atom.signal(&flag, round);
        wait_for_reader(round);
      },
      [&](uint64_t round) {
        while (atom.observe(&flag) != round) std::this_thread::yield();
        const bool right = all_are(data.data(), round * 3);
        taken.store(round, std::memory_order_release);
        return right;
      });
  if (wrong != 0)
    return failed(fmt::format("{} of {} signals came before what they announce", wrong, rounds),
                  rounds);
  taken = 0;
  std::vector<purlin_packet> slots(kWords);
  wrong = disagreements(
      rounds,
      [&](uint64_t round) {
        const std::vector<uint64_t> message(kWords, round * 5);
        atom.send_packets(slots.data(), message.data(), kWords * 8, round);
        wait_for_reader(round);
      },
      [&](uint64_t round) {
        std::vector<uint64_t> found(kWords);
        for (uint64_t next = 0; next < kWords;) {
          next = atom.receive_packets(slots.data(), found.data(), kWords * 8, round, next);
          if (next < kWords) std::this_thread::yield();
        }
        const bool right = all_are(found.data(), round * 5);
        taken.store(round, std::memory_order_release);
        return right;
      });
  if (wrong != 0)
    return failed(fmt::format("{} of {} messages held another's payload", wrong, rounds),
                  2 * rounds);
  return passed(2 * rounds);
}

}  // namespace purlin::tools::check
