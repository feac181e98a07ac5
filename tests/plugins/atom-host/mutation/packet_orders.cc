// Two threads that hand each other plain memory, ordered by the host Atom's packets and flags
// alone. mutation_test.py builds it with packets.cc under ThreadSanitizer, as it is and weakened.
#include <cstdint>
#include <cstring>
#include <thread>

#include "packets.h"

namespace {

constexpr uint64_t kRounds = 200;

uint64_t plain = 0;  // written by one thread, read by the other, never at the same time
uint64_t flag = 0;
uint64_t answer = 0;
uint64_t packet_bytes = 0;  // 8 a whole packet, less the tail of a message
purlin_packet slot{};

// Each thread waits for the other's announcement before it touches `plain`, and then announces in
// turn.
void by_packets() {
  namespace atom = purlin::atom_host;
  for (uint64_t round = 1; round <= kRounds; ++round) {
    plain = round;
    atom::send_packets(&slot, &round, packet_bytes, round);
    while (atom::observe(&answer) != round) std::this_thread::yield();
  }
}

bool take_packets() {
  namespace atom = purlin::atom_host;
  bool right = true;
  for (uint64_t round = 1; round <= kRounds; ++round) {
    uint64_t payload = 0;
    while (atom::receive_packets(&slot, &payload, packet_bytes, round, 0) == 0) {
      std::this_thread::yield();
    }
    right = right && payload == round && plain == round;
    atom::signal(&answer, round);
  }
  return right;
}

void by_flag() {
  namespace atom = purlin::atom_host;
  for (uint64_t round = 1; round <= kRounds; ++round) {
    plain = round;
    atom::signal(&flag, round);
    while (atom::observe(&answer) != kRounds + round) std::this_thread::yield();
  }
}

bool take_flag() {
  namespace atom = purlin::atom_host;
  bool right = true;
  for (uint64_t round = 1; round <= kRounds; ++round) {
    while (atom::observe(&flag) != round) std::this_thread::yield();
    right = right && plain == round;
    atom::signal(&answer, kRounds + round);
  }
  return right;
}

}  // namespace

int main(int, char** arguments) {
  const bool flags = std::strcmp(arguments[1], "flag") == 0;
  packet_bytes = std::strcmp(arguments[1], "tail") == 0 ? 5 : 8;
  std::thread other(flags ? by_flag : by_packets);
  const bool right = flags ? take_flag() : take_packets();
  other.join();
  return right ? 0 : 1;
}
