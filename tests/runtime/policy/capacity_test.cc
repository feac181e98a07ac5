#include "policy/capacity.h"

#include <algorithm>

#include "level.h"
#include "policy/effective.h"
#include "policy/quantity.h"
#include "policy/words.h"
#include "reading.h"
#include "snac/collectives.h"
#include "snac/plan.h"
#include "snac/wire.h"

namespace purlin::policy {
namespace {

using testing::error_of;
using testing::holds;
using testing::must_read;
using testing::starts_with;

purlin_atom_limits limits() {
  purlin_atom_limits limits{};
  limits.struct_size = sizeof limits;
  limits.max_sources = 64;
  limits.max_destinations = 64;
  limits.min_stages = 2;
  limits.max_stages = 12;
  limits.default_stages = 8;
  limits.min_stage_bytes = 1024;
  limits.max_stage_bytes = 32768;
  limits.default_stage_bytes = 16384;
  limits.min_threads = 64;
  limits.max_threads = 512;
  limits.default_threads = 256;
  limits.shared_bytes_fixed = 1024;
  return limits;
}

std::string bind_error(const std::string& body, const Bound& bound, int nranks,
                       purlin_device_kind kind = PURLIN_DEVICE_CUDA) {
  const Status status = check_against(must_read(body, kind), bound, nranks);
  if (status.is_ok()) return "";
  CHECK(status.code() == PURLIN_POLICY_ERROR);
  return status.message();
}

std::string with_half(uint64_t bytes) {
  return "staging: {latency_bytes: " + std::to_string(bytes) + "}\n";
}

// Packet bytes that one source sends in an even call of T bytes, plainly counted.
uint64_t packet_bytes(purlin_collective c, uint64_t n, uint64_t size, bool one_shot) {
  const auto packets = [](uint64_t bytes) { return (bytes + 7) / 8 * 16; };
  const uint64_t share = (size + n - 1) / n;
  switch (c) {
    case PURLIN_ALL_REDUCE:
      return one_shot ? packets(size) : 2 * packets(share);
    case PURLIN_BROADCAST:
    case PURLIN_REDUCE:
    case PURLIN_CUSTOM:
      return 2 * packets(share);
    default:
      return packets(share);
  }
}

TEST_CASE("packets of a size at capacity fit the half and of one more share do not") {
  uint64_t state = test::seed() | 1;
  int cases = 0;
  for (const purlin_collective c :
       {PURLIN_ALL_REDUCE, PURLIN_ALL_GATHER, PURLIN_REDUCE_SCATTER, PURLIN_ALL_TO_ALL,
        PURLIN_ALL_TO_ALL_V, PURLIN_BROADCAST, PURLIN_SCATTER}) {
    for (int n = 2; n <= PURLIN_MAX_RANKS; n = n < 9 ? n + 1 : n * 2) {
      for (int round = 0; round < 4; ++round) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        const uint64_t half = (4096 + (state >> 40)) / 16 * 16;
        const Policy policy = must_read(with_half(half));
        for (const bool one_shot : {false, true}) {
          if (one_shot && c != PURLIN_ALL_REDUCE) continue;
          const uint64_t capacity = packet_capacity(policy, c, n, one_shot);
          const auto ranks = static_cast<uint64_t>(n);
          INFO(word(c), " n=", n, " half=", half, " capacity=", capacity);
          CHECK(packet_bytes(c, ranks, capacity, one_shot) <= half / ranks);
          CHECK(packet_bytes(c, ranks, capacity + ranks * 8, one_shot) > half / ranks);
          ++cases;
        }
      }
    }
  }
  test::count_cases(static_cast<uint64_t>(cases));
}

TEST_CASE("capacity is what the wire has room for") {
  for (const uint64_t half : {4096ull, 65536ull, 512ull * 1024, (1ull << 32) + 4096}) {
    const Policy policy = must_read(with_half(half));
    for (int n = 2; n <= PURLIN_MAX_RANKS; ++n) {
      snac::WireConfig config;
      config.nranks = static_cast<uint32_t>(n);
      config.latency_bytes = half;
      const snac::WireMap map = snac::map_wire(config);
      for (const purlin_collective c :
           {PURLIN_ALL_REDUCE, PURLIN_ALL_GATHER, PURLIN_REDUCE_SCATTER, PURLIN_ALL_TO_ALL,
            PURLIN_ALL_TO_ALL_V, PURLIN_BROADCAST, PURLIN_REDUCE, PURLIN_SCATTER, PURLIN_GATHER}) {
        for (const bool one_shot : {false, true}) {
          if (one_shot && c != PURLIN_ALL_REDUCE) continue;
          const uint64_t pair = snac::packet_capacity(
              map, snac::transformation_of(static_cast<snac::Collective>(c), one_shot));
          INFO(word(c), " n=", n, " half=", half);
          CHECK(packet_capacity(policy, c, n, one_shot) ==
                (one_shot ? pair : static_cast<uint64_t>(n) * pair));
        }
      }
    }
  }
}

TEST_CASE("capacity is exact beyond 32 bits, and at most a GiB for a pair") {
  for (const uint64_t half :
       {(1ull << 31) - 4096, (1ull << 31), (1ull << 31) + 4096, (1ull << 32) + 4096, 1ull << 40}) {
    const Policy policy = must_read(with_half(half));
    const auto pair = [](uint64_t bytes) { return std::min(bytes, snac::kMostByPackets); };
    CHECK(packet_capacity(policy, PURLIN_ALL_REDUCE, 2, true) == pair(half / 4));
    CHECK(packet_capacity(policy, PURLIN_ALL_REDUCE, 2, false) == 2 * pair(half / 8));
    CHECK(packet_capacity(policy, PURLIN_ALL_GATHER, 2, false) == 2 * pair(half / 4));
    CHECK(packet_capacity(policy, PURLIN_ALL_GATHER_V, 2, false) == 2 * pair(half / 4));
  }
  const Policy policy = must_read("");
  CHECK(packet_capacity(policy, PURLIN_BARRIER, 8, false) == kNoLimit);
  CHECK(packet_capacity(policy, PURLIN_ALL_GATHER, 1, false) == kNoLimit);
  CHECK(packet_capacity(policy, PURLIN_SEND_RECV, 64, false) == 128 * 1024);
}

TEST_CASE("a crossover at the limit is taken, one above is refused with the limit") {
  // all_reduce in two shots: 4 T <= 64KiB.
  const auto crossover = [](const char* value) {
    return with_half(65536) + "crossover: {rows: [{collectives: [all_reduce], value: " + value +
           "}]}\n";
  };
  const std::string at = crossover("16KiB");
  CHECK(error_of(at).empty());
  const std::string error = error_of(crossover("16385"));
  CHECK(starts_with(error, "p.yaml:3:55: crossover 16385 of all_reduce does not fit: at 2 ranks"));
  CHECK(holds(error, "carry at most 16KiB"));
  CHECK(holds(error, "staging.latency_bytes 64KiB (p.yaml:2:26)"));
  const Bound bound;
  const std::string at_three = bind_error(at, bound, 3, PURLIN_DEVICE_HOST);
  CHECK(starts_with(at_three, "p.yaml:3:55: crossover 16KiB of all_reduce"));
  CHECK(holds(at_three, "at 3 ranks"));
  CHECK(holds(at_three, "carry at most 16368"));  // three times a whole number of packets
}

TEST_CASE("every limit holds at the limit and not one step above, for 2 to 8 ranks") {
  const Bound bound;
  for (int n = 2; n <= 8; ++n) {
    const Policy roomy = must_read("staging: {latency_bytes: 64KiB, throughput_bytes: 64KiB}\n");
    const uint64_t crossover = packet_capacity(roomy, PURLIN_ALL_REDUCE, n, false);
    const uint64_t one_shot = packet_capacity(roomy, PURLIN_ALL_REDUCE, n, true);
    const uint64_t chunk = largest_chunk(roomy, n);
    const auto body = [&](uint64_t c, uint64_t o, uint64_t k) {
      return "staging: {latency_bytes: 64KiB, throughput_bytes: 64KiB}\ncrossover: {default: 0, "
             "rows: "
             "[{collectives: [all_reduce], value: " +
             std::to_string(c) + "}]}\none_shot_limit: " + std::to_string(o) +
             "\ntuning: {default: {chunk: " + std::to_string(k) + "}}\n";
    };
    INFO("n=", n);
    const auto error = [&](uint64_t c, uint64_t o, uint64_t k) {
      const std::string text = body(c, o, k);
      const std::string at_reading = error_of(text);
      return at_reading.empty() ? bind_error(text, bound, n, PURLIN_DEVICE_HOST) : at_reading;
    };
    CHECK(error(crossover, one_shot, chunk) == "");
    CHECK(holds(error(crossover + 1, one_shot, chunk),
                "carry at most " + format_size(crossover) + ";"));
    CHECK(holds(error(crossover, crossover, chunk),
                n == 2 ? "" : "carry at most " + format_size(one_shot) + " in one shot"));
    CHECK(holds(error(crossover, one_shot, chunk + 16),
                "holds chunks of at most " + format_size(chunk)));
  }
}

TEST_CASE("built-in defaults give way to a small staging, written values do not") {
  const Policy policy = must_read(with_half(4096) + "crossover: {rows: []}\n");
  for (int n = 2; n <= PURLIN_MAX_RANKS; ++n) {
    const Status status = check_against(policy, {}, n);
    CHECK_MESSAGE(status.is_ok(), status.message());
    CHECK(effective_crossover(policy, PURLIN_ALL_REDUCE, n).value <=
          packet_capacity(policy, PURLIN_ALL_REDUCE, n, false));
    CHECK(effective_one_shot_limit(policy, n).value <=
          packet_capacity(policy, PURLIN_ALL_REDUCE, n, true));
  }
  CHECK(holds(error_of(with_half(4096) + "crossover: 4KiB\n"), "does not fit"));
  const Policy small = must_read("staging: {throughput_bytes: 4KiB}\n");
  CHECK(effective_chunk(small, *small.tuning.chunk, 64).value == 32);
}

TEST_CASE("the built-in defaults fit at every number of ranks") {
  for (const purlin_device_kind kind : {PURLIN_DEVICE_HOST, PURLIN_DEVICE_CUDA}) {
    const Policy policy = built_in_policy(kind);
    for (int n = 1; n <= PURLIN_MAX_RANKS; ++n) {
      CHECK(check_against(policy, {}, n).is_ok());
      for (unsigned c = 0; c < PURLIN_COLLECTIVE_COUNT; ++c) {
        const auto collective = static_cast<purlin_collective>(c);
        INFO(word(collective), " at ", n);
        // So nothing gives way as shipped: what docs/policy.md prints is what runs.
        CHECK(effective_crossover(policy, collective, n).value == policy.crossover.otherwise.value);
      }
      const uint64_t one_shot = policy.one_shot_limit.at(PURLIN_ALL_REDUCE, n, 0).value;
      CHECK(effective_one_shot_limit(policy, n).value ==
            std::min(one_shot, policy.crossover.otherwise.value));
      if (kind == PURLIN_DEVICE_CUDA || n <= 32)
        CHECK(effective_chunk(policy, *policy.tuning.chunk, n).value == policy.tuning.chunk->value);
    }
  }
}

TEST_CASE("CTAs above what has flags are refused when the file is read") {
  const auto ctas = [](const char* stage, const char* reduce) {
    return "tuning: {default: {ctas: {stage: " + std::string(stage) + ", reduce: " + reduce +
           ", gather: 1}}}\n";
  };
  CHECK(error_of(ctas("255", "256")).empty());
  CHECK(holds(error_of(ctas("256", "256")), "256 + 256 + 1 = 513 CTAs, at most 512"));
  CHECK(holds(error_of(ctas("512", "1")), "at most 512"));
  for (const char* many : {"513", "5120", "2147483648", "9223372036854775807"})
    CHECK(holds(error_of(ctas(many, "1")), "outside 1..512"));
  // A row that states one role inherits the others.
  CHECK(starts_with(error_of("tuning: {rows: [{ctas: {reduce: 512}}]}\n"),
                    "p.yaml:2:33: the roles take 1 + 512 + 1"));
}

TEST_CASE(
    "what the Atom declares is checked in the default and in the rows that are for these ranks") {
  const purlin_atom_limits atom_limits = limits();
  Bound bound;
  bound.limits = &atom_limits;
  bound.atom = "hopper";
  bound.cuda = true;
  bound.shared_bytes_per_block = 227 * 1024;
  struct Case {
    const char* settings;
    const char* part;  // of the error, "" for none
  };
  const Case cases[] = {
      {"stages: 12", ""},
      {"stages: 13", "stages 13 is outside 2..12, which Atom hopper declares"},
      {"stages: 1", "outside 2..12"},
      {"stage_bytes: 1KiB", ""},
      {"stage_bytes: 1008", "stage_bytes 1008 is outside 1024..32768"},
      {"stage_bytes: 64KiB", "outside 1024..32768"},
      {"threads: 512", ""},
      {"threads: 544", "outside 64..512"},
      {"threads: 100", "no multiple of 32, the size of a warp; write 128"},
      {"stages: auto, stage_bytes: auto, threads: auto", ""},
      {"stages: 7, stage_bytes: 32KiB", ""},
      {"stages: 8, stage_bytes: 32KiB",
       "need 263168 bytes of shared memory, the device has 232448"},
      {"stage_bytes: 32KiB", "8 stages of 32KiB"},
  };
  for (const Case& entry : cases) {
    INFO(std::string(entry.settings));
    const std::string in_default =
        bind_error("tuning: {default: {" + std::string(entry.settings) + "}}\n", bound, 8);
    const std::string row = "tuning: {rows: [{ranks: 8, " + std::string(entry.settings) + "}]}\n";
    const std::string in_row = bind_error(row, bound, 8);
    CHECK(bind_error(row, bound, 7) == "");
    if (*entry.part == '\0') {
      CHECK(in_default == "");
      CHECK(in_row == "");
    } else {
      CHECK(starts_with(in_default, "p.yaml:2:"));
      CHECK(holds(in_default, entry.part));
      CHECK(holds(in_row, entry.part));
    }
  }
}

TEST_CASE("a stage leaves every source at least sixteen bytes") {
  purlin_atom_limits atom_limits = limits();
  atom_limits.min_stage_bytes = 256;
  Bound bound;
  bound.limits = &atom_limits;
  CHECK(bind_error("tuning: {default: {stage_bytes: 256}}\n", bound, 16) == "");
  CHECK(holds(bind_error("tuning: {default: {stage_bytes: 256}}\n", bound, 17),
              "leaves 17 sources less than 16 bytes each; write at least 272"));
  atom_limits.max_sources = 16;  // more are combined in several passes
  CHECK(bind_error("tuning: {default: {stage_bytes: 256}}\n", bound, 17) == "");
}

TEST_CASE("staging larger than the device is refused in 64-bit arithmetic") {
  Bound bound;
  bound.memory_bytes = 1ull << 34;
  const std::string body = "staging: {throughput_bytes: 8GiB}\n";
  CHECK(holds(bind_error(body, bound, 2), "more than the device's memory of 16GiB; lower staging"));
  CHECK(starts_with(bind_error(body, bound, 2), "p.yaml:2:29: staging of 171"));
  CHECK(bind_error("staging: {throughput_bytes: 4GiB}\n", bound, 2) == "");
  const std::string most =
      "staging: {latency_bytes: 1024GiB, throughput_bytes: 1024GiB, "
      "pair_slots: 64, pair_bytes: 1GiB}\n";
  CHECK(holds(bind_error(most, bound, 64), "staging of 8727373545472 bytes a rank at 64 ranks"));
}

TEST_CASE("a row that forces the latency path must end where packets end") {
  CHECK(holds(error_of("tuning: {rows: [{path: latency, collectives: [all_gather]}]}\n"),
              "p.yaml:2:24: path latency for sizes 0.. of all_gather does not fit"));
  const std::string row =
      "tuning: {rows: [{path: latency, collectives: [all_gather], bytes: ..256KiB}]}\n";
  CHECK(error_of(row).empty());
  CHECK(bind_error(row, {}, 2, PURLIN_DEVICE_HOST) == "");
  CHECK(holds(bind_error(row, {}, 3, PURLIN_DEVICE_HOST), "carry at most 262128"));
}

}  // namespace
}  // namespace purlin::policy
