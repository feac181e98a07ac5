#include <doctest/doctest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "guarded_buffer.h"
#include "level.h"
#include "plugin.h"

namespace {

using namespace purlin::atom_host_test;

constexpr uint64_t kTag = 0x0123456789ABCDEF;

std::vector<unsigned char> numbered(uint64_t bytes, unsigned start) {
  std::vector<unsigned char> content(bytes);
  for (uint64_t i = 0; i < bytes; ++i) content[i] = static_cast<unsigned char>(start + i * 7);
  return content;
}

uint64_t packets_of(uint64_t bytes) { return (bytes + 7) / 8; }

TEST_CASE("packets carry any number of bytes from and to any alignment") {
  for (uint64_t bytes = 0; bytes <= 70; ++bytes) {
    for (uint64_t shift = 0; shift < 9; ++shift) {
      const std::vector<unsigned char> content = numbered(bytes, static_cast<unsigned>(shift));
      const GuardedBuffer source(content, shift);
      GuardedBuffer destination(bytes, shift + 5);
      std::vector<purlin_packet> slots(packets_of(bytes) + 1);
      host_atom().send_packets(slots.data(), source.data(), bytes, kTag);
      CHECK(host_atom().receive_packets(slots.data(), destination.data(), bytes, kTag, 0) ==
            packets_of(bytes));
      CHECK(destination.holds(content));
      CHECK(destination.guards_intact());
      CHECK(slots.back().tag == 0);  // nothing beyond the last packet
    }
  }
}

TEST_CASE("the last payload is padded with zero bytes") {
  for (uint64_t bytes = 1; bytes < 8; ++bytes) {
    const std::vector<unsigned char> content(bytes, 0xFF);
    purlin_packet slot{~uint64_t{0}, 0};
    host_atom().send_packets(&slot, content.data(), bytes, kTag);
    CHECK(slot.payload == ~uint64_t{0} >> (64 - 8 * bytes));
    CHECK(slot.tag == kTag);
  }
}

TEST_CASE("receiving stops at the first packet that has not arrived and resumes there") {
  for (const uint64_t bytes : {24u, 29u}) {
    const std::vector<unsigned char> content = numbered(bytes, 3);
    const uint64_t all = packets_of(bytes);
    std::vector<purlin_packet> complete(all);
    host_atom().send_packets(complete.data(), content.data(), bytes, kTag);
    std::vector<purlin_packet> slots(all, purlin_packet{0, kTag - 1});
    GuardedBuffer destination(bytes, 1);
    const GuardedBuffer untouched(bytes, 1);
    for (uint64_t arrived = 0; arrived < all; ++arrived) {
      CAPTURE(arrived);
      CHECK(host_atom().receive_packets(slots.data(), destination.data(), bytes, kTag, arrived) ==
            arrived);
      CHECK(std::memcmp(destination.data() + 8 * arrived, untouched.data() + 8 * arrived,
                        bytes - 8 * arrived) == 0);
      slots[arrived] = complete[arrived];
      CHECK(host_atom().receive_packets(slots.data(), destination.data(), bytes, kTag, arrived) ==
            arrived + 1);
    }
    CHECK(destination.holds(content));
    CHECK(destination.guards_intact());
    CHECK(host_atom().receive_packets(slots.data(), destination.data(), bytes, kTag, all) == all);
  }
}

TEST_CASE("a tag announces its payload to another thread") {
  constexpr uint64_t kBytes = 1021;
  const uint64_t rounds = purlin::test::is_full() ? 20000 : 2000;
  std::vector<purlin_packet> slots(packets_of(kBytes));
  uint64_t acknowledged = 0;
  std::thread sender([&] {
    for (uint64_t round = 1; round <= rounds; ++round) {
      const auto content = numbered(kBytes, static_cast<unsigned>(round));
      host_atom().send_packets(slots.data(), content.data(), kBytes, round);
      while (host_atom().observe(&acknowledged) != round) std::this_thread::yield();
    }
  });
  uint64_t wrong = 0;
  for (uint64_t round = 1; round <= rounds; ++round) {
    std::vector<unsigned char> found(kBytes);
    uint64_t next = 0;
    while ((next = host_atom().receive_packets(slots.data(), found.data(), kBytes, round, next)) <
           slots.size()) {
      std::this_thread::yield();
    }
    if (found != numbered(kBytes, static_cast<unsigned>(round))) ++wrong;
    host_atom().signal(&acknowledged, round);
  }
  sender.join();
  purlin::test::count_cases(rounds);
  CHECK(wrong == 0);
}

TEST_CASE("a signal announces plain stores that came before it") {
  const uint64_t rounds = purlin::test::is_full() ? 100000 : 5000;
  uint64_t data = 0;
  uint64_t written = 0;
  uint64_t taken = 0;
  std::thread writer([&] {
    for (uint64_t round = 1; round <= rounds; ++round) {
      data = round * 3;
      host_atom().signal(&written, round);
      while (host_atom().observe(&taken) != round) std::this_thread::yield();
    }
  });
  uint64_t wrong = 0;
  for (uint64_t round = 1; round <= rounds; ++round) {
    while (host_atom().observe(&written) != round) std::this_thread::yield();
    if (data != round * 3) ++wrong;
    host_atom().signal(&taken, round);
  }
  writer.join();
  CHECK(wrong == 0);
}

}  // namespace
