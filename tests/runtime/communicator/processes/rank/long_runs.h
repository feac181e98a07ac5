// What one rank of several processes does in a long run; every function answers "ok" or what is
// wrong.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>

#include "purlin/purlin.h"

namespace purlin::test {

struct Place {
  purlin_unique_id id{};
  int rank = 0, nranks = 1;
  unsigned timeout_ms = 0;
};

purlin_unique_id unique_id(const std::string& hex);
// "ok", or the status with the text, by default this thread's last.
std::string text_of(purlin_status status, const char* text = nullptr);
// `policy` is a policy's text or empty. *out is null on failure.
std::string create(const Place& place, const std::string& name, const std::string& policy,
                   purlin_comm_t* out);
// One checked all-reduce of `count` u32; `iteration` is part of every value.
std::string reduce_once(purlin_comm_t comm, uint64_t count, uint32_t iteration);
// The same, an all-gather of `count` u32 of each rank, whose input is overwritten right after.
std::string gather_once(purlin_comm_t comm, uint64_t count, uint32_t iteration);

// CYCLES SEED: create, all-reduce, destroy with random delays. What the process holds, descriptors
// and mappings, does not grow after the first tenth.
std::string run_cycles(const Place& place, std::istringstream& arguments);
// COMMUNICATORS: all of them at once, each used once, then destroyed.
std::string run_burst(const Place& place, std::istringstream& arguments);
// CALLS SEED: all-reduces, and now and then an all-gather, whose sizes alternate between protocols, random delays, one rank often
// last, a new communicator every 500 calls.
std::string run_soak(const Place& place, std::istringstream& arguments);
// CASES SEED: random collectives against the serial reference.
std::string run_sweep(const Place& place, std::istringstream& arguments);

}  // namespace purlin::test
