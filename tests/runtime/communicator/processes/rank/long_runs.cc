#include "runtime/communicator/processes/rank/long_runs.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <vector>

#include "reference/element.h"
#include "runtime/communicator/sweep_case.h"

namespace purlin::test {
namespace {

// Keeps the core busy: ranks come at different times. No test depends on how long it takes.
void delay(uint64_t microseconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
  while (std::chrono::steady_clock::now() < end) {
  }
}

uint64_t descriptors() {
  uint64_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

// Mappings of Purlin's shared memory.
uint64_t mappings() {
  std::ifstream table("/proc/self/maps");
  uint64_t count = 0;
  for (std::string line; std::getline(table, line);)
    if (line.find("/memfd:") != std::string::npos) ++count;
  return count;
}

}  // namespace

purlin_unique_id unique_id(const std::string& hex) {
  purlin_unique_id id{};
  for (size_t i = 0; i < sizeof id.bytes && 2 * i + 1 < hex.size(); ++i)
    id.bytes[i] = static_cast<char>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  return id;
}

std::string text_of(purlin_status status, const char* text) {
  if (status == PURLIN_OK) return "ok";
  return std::string(purlin_status_name(status)) + ": " + (text ? text : purlin_last_error());
}

std::string create(const Place& place, const std::string& name, const std::string& policy,
                   purlin_comm_t* out) {
  purlin_comm_options options = PURLIN_COMM_OPTIONS_INIT;
  options.unique_id = &place.id;
  options.rank = place.rank;
  options.nranks = place.nranks;
  options.device_kind = PURLIN_DEVICE_HOST;
  options.timeout_ms = place.timeout_ms;
  options.name = name.c_str();
  if (!policy.empty()) options.policy_text = policy.c_str();
  return text_of(purlin_comm_create(out, &options));
}

std::string reduce_once(purlin_comm_t comm, uint64_t count, uint32_t iteration) {
  int rank = 0, nranks = 0;
  if (purlin_comm_rank(comm, &rank) != PURLIN_OK || purlin_comm_size(comm, &nranks) != PURLIN_OK)
    return purlin_last_error();
  static std::vector<uint32_t> in, out;
  in.resize(count);
  out.assign(count, ~0u);
  const auto n = static_cast<uint32_t>(nranks);
  for (uint64_t i = 0; i < count; ++i)
    in[i] = iteration + static_cast<uint32_t>(i % 251) + static_cast<uint32_t>(rank);
  const purlin_status status =
      purlin_all_reduce(in.data(), out.data(), count, PURLIN_U32, PURLIN_SUM, comm, nullptr);
  if (status != PURLIN_OK) return text_of(status);
  for (uint64_t i = 0; i < count; ++i) {
    const uint32_t right = n * (iteration + static_cast<uint32_t>(i % 251)) + n * (n - 1) / 2;
    if (out[i] != right)
      return "wrong: call " + std::to_string(iteration) + " of " + std::to_string(count) +
             " elements, element " + std::to_string(i) + " is " + std::to_string(out[i]) +
             ", not " + std::to_string(right);
  }
  return "ok";
}

std::string gather_once(purlin_comm_t comm, uint64_t count, uint32_t iteration) {
  int rank = 0, nranks = 0;
  if (purlin_comm_rank(comm, &rank) != PURLIN_OK || purlin_comm_size(comm, &nranks) != PURLIN_OK)
    return purlin_last_error();
  static std::vector<uint32_t> in, out;
  in.assign(count, iteration * 64 + static_cast<uint32_t>(rank));
  out.assign(count * static_cast<uint64_t>(nranks), ~0u);
  const purlin_status status =
      purlin_all_gather(in.data(), out.data(), count, PURLIN_U32, comm, nullptr);
  in.assign(count, ~0u);
  if (status != PURLIN_OK) return text_of(status);
  for (uint64_t i = 0; i < out.size(); ++i)
    if (out[i] != iteration * 64 + i / count)
      return "wrong: call " + std::to_string(iteration) + ", element " + std::to_string(i) +
             " is " + std::to_string(out[i]);
  return "ok";
}

std::string run_cycles(const Place& place, std::istringstream& arguments) {
  uint64_t cycles = 0, seed = 0;
  arguments >> cycles >> seed;
  std::mt19937_64 random(seed + static_cast<uint64_t>(place.rank));
  uint64_t held = 0, mapped = 0;
  for (uint64_t cycle = 0; cycle < cycles; ++cycle) {
    purlin_comm_t comm = nullptr;
    if (random() % 4 == 0) delay(random() % 2000);
    std::string said = create(place, "cycle", "", &comm);
    if (said == "ok")
      said = reduce_once(comm, cycle % 3 == 0 ? 1 << 16 : 1, static_cast<uint32_t>(cycle));
    if (said == "ok" && random() % 4 == 0) delay(random() % 2000);
    if (said == "ok") said = text_of(purlin_comm_destroy(comm));
    if (said == "ok" && purlin_comm_destroy(comm) != PURLIN_INVALID_ARGUMENT)
      said = "a second destroy is no error";
    if (said != "ok") return "cycle " + std::to_string(cycle) + ": " + said;
    if (cycle <= cycles / 10) {
      held = std::max(held, descriptors());
      mapped = std::max(mapped, mappings());
    } else if (descriptors() > held || mappings() > mapped) {
      return "cycle " + std::to_string(cycle) + ": " + std::to_string(descriptors()) +
             " descriptors and " + std::to_string(mappings()) + " mappings, " +
             std::to_string(held) + " and " + std::to_string(mapped) + " before";
    }
  }
  return "ok";
}

std::string run_burst(const Place& place, std::istringstream& arguments) {
  size_t count = 0;
  arguments >> count;
  std::vector<purlin_comm_t> comms(count);
  std::string said = "ok";
  for (size_t i = 0; i < count && said == "ok"; ++i)
    said = create(place, "burst" + std::to_string(i), "", &comms[i]);
  for (size_t i = 0; i < count && said == "ok"; ++i)
    said = reduce_once(comms[i], 1000, static_cast<uint32_t>(i));
  for (purlin_comm_t comm : comms)
    if (comm != nullptr && purlin_comm_destroy(comm) != PURLIN_OK && said == "ok")
      said = text_of(PURLIN_INTERNAL);
  return said;
}

std::string run_soak(const Place& place, std::istringstream& arguments) {
  uint64_t calls = 0, seed = 0;
  arguments >> calls >> seed;
  // All ranks draw the sizes alike, each its own delays.
  std::mt19937_64 shared(seed), own(seed + 1 + static_cast<uint64_t>(place.rank));
  const uint64_t bytes[] = {4,        64,       1000,      4096,      4100,
                            16 << 10, 64 << 10, 256 << 10, 512 << 10, 8 << 20};
  purlin_comm_t comm = nullptr;
  std::string said = "ok";
  for (uint64_t call = 0; call < calls && said == "ok"; ++call) {
    if (call % 500 == 0) {
      if (comm != nullptr) said = text_of(purlin_comm_destroy(comm));
      if (said == "ok") said = create(place, "soak", "", &comm);
      if (said != "ok") break;
    }
    // Small ones are the most; the largest come once in some thousand calls.
    const uint64_t draw = shared() % 10'000;
    const size_t size = draw < 9'000   ? draw % 5
                        : draw < 9'950 ? 5 + draw % 2
                        : draw < 9'998 ? 7 + draw % 2
                                       : 9;
    const bool late_phase = call / 1000 % 10 == 3;
    if (late_phase && place.rank == static_cast<int>(call / 10'000) % place.nranks)
      delay(100);
    else if (own() % 16 == 0)
      delay(own() % 50);
    const uint64_t count = std::max<uint64_t>(bytes[size] / 4, 1);
    // Of any size, so that they are read in place as well as staged and sent in packets.
    said = shared() % 16 == 0 ? gather_once(comm, count, static_cast<uint32_t>(call))
                              : reduce_once(comm, count, static_cast<uint32_t>(call));
  }
  if (comm != nullptr && purlin_comm_destroy(comm) != PURLIN_OK && said == "ok")
    said = text_of(PURLIN_INTERNAL);
  return said;
}

std::string run_sweep(const Place& place, std::istringstream& arguments) {
  uint64_t cases = 0, seed = 0;
  arguments >> cases >> seed;
  std::mt19937_64 random(seed);
  const auto n = static_cast<uint64_t>(place.nranks);
  const uint64_t counts[] = {0,   1,   n - 1, n,   n + 1, 15,         17,  127,
                             128, 129, 255,   257, 1025,  16 * n - 1, 9001};
  const uint64_t offsets[] = {0, 0, 1, 4, 8, 12};
  const int collectives[] = {PURLIN_ALL_GATHER, PURLIN_REDUCE_SCATTER, PURLIN_ALL_REDUCE,
                             PURLIN_ALL_TO_ALL, PURLIN_BROADCAST,      PURLIN_REDUCE,
                             PURLIN_SCATTER,    PURLIN_GATHER};
  const int paths[] = {PURLIN_PATH_AUTO, PURLIN_PATH_THROUGHPUT, PURLIN_PATH_LATENCY};
  purlin_comm_t comm = nullptr;
  std::string said = create(place, "sweep", kSmallStaging, &comm);
  for (uint64_t i = 0; i < cases && said == "ok"; ++i) {
    Case c{};
    c.n = place.nranks;
    c.collective = collectives[random() % std::size(collectives)];
    c.dtype = static_cast<int>(random() % PURLIN_DTYPE_COUNT);
    c.op = reduces(c.collective) ? static_cast<int>(random() % PURLIN_PREMUL_SUM) : 0;
    c.path = paths[random() % std::size(paths)];
    c.count = counts[random() % std::size(counts)];
    c.offset = offsets[random() % std::size(offsets)];
    c.in_place = random() % 2 == 0;
    c.root = static_cast<int>(random() % n);
    c.seed = random();
    if (c.path == PURLIN_PATH_LATENCY) {
      const auto dtype = static_cast<purlin_dtype>(c.dtype);
      c.count = std::min(c.count, most_forced_packets(reference::element_bytes(dtype)));
    }
    const std::string wrong = run_rank(c, place.rank, inputs_of(c), comm);
    if (!wrong.empty()) said = describe(c) + ": " + wrong;
  }
  if (comm != nullptr && purlin_comm_destroy(comm) != PURLIN_OK && said == "ok")
    said = text_of(PURLIN_INTERNAL);
  return said;
}

}  // namespace purlin::test
