#include "runtime/communicator/message_plan.h"

#include <algorithm>
#include <random>
#include <vector>

#include "runtime/communicator/ranks.h"

namespace purlin::test {

const char* const kSmallSlots =
    "version: 1\nstaging: {latency_bytes: 64KiB, throughput_bytes: 64KiB, pair_slots: 3, "
    "pair_bytes: "
    "1KiB}\ncrossover: 256\n";

namespace {

unsigned char content(int from, int to, uint32_t message, uint64_t i) {
  return static_cast<unsigned char>(i * 7 + message * 31 + static_cast<uint32_t>(from) * 5 +
                                    static_cast<uint32_t>(to) * 11);
}

struct Planned {
  int from, to;
  uint64_t bytes;
  uint32_t number;  // of the pair
};

std::vector<Planned> plan_of(int n, uint64_t seed) {
  std::mt19937_64 random(seed);
  const uint64_t sizes[] = {0,    1,    7,    8,        255,          256,   257,
                            1023, 1024, 1025, 3 * 1024, 3 * 1024 + 1, 20'000};
  std::vector<Planned> plan;
  for (int from = 0; from < n; ++from)
    for (int to = 0; to < n; ++to) {
      const uint32_t messages = random() % 3 == 0 ? 0 : static_cast<uint32_t>(random() % 6);
      for (uint32_t m = 0; m < messages; ++m)
        plan.push_back({from, to, sizes[random() % std::size(sizes)], m});
    }
  return plan;
}

// One end of a message on this rank.
struct End {
  const Planned* message;
  bool sends;
  Guarded buffer;
};

// Any order, but those of one pair and direction in the order of their numbers.
std::vector<size_t> order_of(const std::vector<End>& ends, std::mt19937_64& random) {
  std::vector<size_t> order(ends.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return ends[a].message->number < ends[b].message->number;
  });
  return order;
}

std::string check(const End& end) {
  const Planned& m = *end.message;
  if (!end.buffer.intact()) return "a guard byte was touched";
  for (uint64_t i = 0; i < m.bytes; ++i)
    if (end.buffer.data()[i] != content(m.from, m.to, m.number, i))
      return "wrong byte " + std::to_string(i) + " of message " + std::to_string(m.number) +
             " from " + std::to_string(m.from) + " to " + std::to_string(m.to);
  return "";
}

}  // namespace

std::string exchange_messages(int n, int r, uint64_t seed, purlin_comm_t comm) {
  const std::vector<Planned> plan = plan_of(n, seed);
  std::mt19937_64 random(seed + static_cast<uint64_t>(r) + 1);
  std::vector<End> ends;
  for (const Planned& m : plan)
    for (const bool sends : {true, false}) {
      if ((sends ? m.from : m.to) != r) continue;
      ends.push_back({&m, sends, Guarded(m.bytes, random() % 16)});
      for (uint64_t i = 0; i < m.bytes; ++i)
        ends.back().buffer.data()[i] = sends ? content(m.from, m.to, m.number, i) : 0xee;
    }
  std::string error;
  purlin_group_start();
  for (const size_t i : order_of(ends, random)) {
    End& end = ends[i];
    const Planned& m = *end.message;
    const purlin_status status =
        end.sends ? purlin_send(end.buffer.data(), m.bytes, PURLIN_U8, m.to, comm, nullptr)
                  : purlin_recv(end.buffer.data(), m.bytes, PURLIN_U8, m.from, comm, nullptr);
    if (status != PURLIN_OK) error = purlin_last_error();
  }
  if (purlin_group_end() != PURLIN_OK) error = purlin_last_error();
  for (const End& end : ends)
    if (error.empty()) error = check(end);
  return error;
}

}  // namespace purlin::test
