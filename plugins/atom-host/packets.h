// Packets and flags: the table's `send_packets`, `receive_packets`, `signal` and `observe`.
//
// The order goes with the access, never with a fence: a packet's payload is written relaxed and its
// tag with release; the reader acquires the tag and reads the payload after it.
#pragma once

#include <cstdint>

#include "purlin/atom_abi.h"

namespace purlin::atom_host {

void send_packets(purlin_packet* slots, const void* source, uint64_t bytes, uint64_t tag);
uint64_t receive_packets(const purlin_packet* slots, void* destination, uint64_t bytes,
                         uint64_t tag, uint64_t first);
void signal(uint64_t* flag, uint64_t value);
uint64_t observe(const uint64_t* flag);

}  // namespace purlin::atom_host
