// One rank by itself: what its peers would have written is there beforehand, so it gives the very
// result that it gives among them.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

#include "level.h"
#include "ranks.h"
#include "reference/element.h"
#include "sweep_case.h"

using namespace purlin::test;
namespace reference = purlin::reference;

namespace {

const char* const kPolicy =
    "version: 1\nstaging: {latency_bytes: 256KiB, throughput_bytes: 1MiB}\ntuning: {default: "
    "{chunk: 1KiB}}\n";
const int kCollectives[] = {PURLIN_ALL_GATHER, PURLIN_REDUCE_SCATTER, PURLIN_ALL_REDUCE,
                            PURLIN_ALL_TO_ALL, PURLIN_BROADCAST,      PURLIN_REDUCE,
                            PURLIN_SCATTER,    PURLIN_GATHER};

// Makes the call alone, twice.
Carrier twice(const std::vector<purlin_call>& everyone, purlin_comm_t comm) {
  return
      [&everyone, comm](const purlin_call& call, std::span<const std::span<unsigned char>> memory) {
        std::vector<Bytes> before, once;
        for (const auto& bytes : memory) before.emplace_back(bytes.begin(), bytes.end());
        if (purlin_run_alone(&call, everyone.data(), comm, nullptr) != PURLIN_OK)
          return std::string(purlin_last_error());
        for (size_t i = 0; i < memory.size(); ++i) {
          once.emplace_back(memory[i].begin(), memory[i].end());
          std::copy(before[i].begin(), before[i].end(), memory[i].begin());
        }
        if (purlin_run_alone(&call, nullptr, comm, nullptr) != PURLIN_OK)
          return std::string(purlin_last_error());
        for (size_t i = 0; i < memory.size(); ++i)
          if (!std::equal(once[i].begin(), once[i].end(), memory[i].begin()))
            return std::string("the second differs");
        return std::string();
      };
}

purlin_call sum_of(const std::vector<uint32_t>& in, std::vector<uint32_t>* out, int path) {
  purlin_call call{};
  call.struct_size = sizeof call;
  call.collective = PURLIN_ALL_REDUCE;
  call.dtype = PURLIN_U32;
  call.op = PURLIN_SUM;
  call.send = in.data();
  call.recv = out->data();
  call.count = in.size();
  call.path = path;
  return call;
}

// A call of every rank with inputs 1, 2, …
struct Sums {
  Sums(int n, uint64_t count, int path) {
    for (int r = 0; r < n; ++r) {
      in.emplace_back(count, static_cast<uint32_t>(r) + 1);
      out.emplace_back(count, 0u);
    }
    for (size_t r = 0; r < in.size(); ++r) everyone.push_back(sum_of(in[r], &out[r], path));
  }
  std::vector<std::vector<uint32_t>> in, out;
  std::vector<purlin_call> everyone;
};

TEST_CASE("each rank alone gives the result that it gives among its peers") {
  std::mt19937_64 random(seed() * 31 + 77);
  for (int n : {1, 2, 3, 5, 8}) {
    for (const char* direction : {"", "push", "pull"}) {
      std::string policy = kPolicy;
      if (*direction != '\0')
        policy.insert(policy.find("chunk"), std::string("direction: ") + direction + ", ");
      for (int rank = 0; rank < n; ++rank) {
        if (!is_full() && random() % static_cast<uint64_t>(n) > 1) continue;
        const Ranks ranks(n, policy);
        REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
        for (int collective : kCollectives) {
          for (int path : {PURLIN_PATH_LATENCY, PURLIN_PATH_THROUGHPUT}) {
            if (!is_tried(random, 3)) continue;
            const int dtype = static_cast<int>(random() % PURLIN_DTYPE_COUNT);
            const uint64_t es = reference::element_bytes(static_cast<purlin_dtype>(dtype));
            const Case c{collective,
                         n,
                         dtype,
                         PURLIN_SUM,
                         path,
                         random() % (2048 / es),
                         random() % 2 * 4,
                         random() % 2 == 0,
                         static_cast<int>(random() % static_cast<uint64_t>(n)),
                         random()};
            const std::string wrong =
                run_alone(c, rank, inputs_of(c), [&](const std::vector<purlin_call>& everyone) {
                  return twice(everyone, ranks.comm(rank));
                });
            REQUIRE_MESSAGE(wrong == "",
                            "rank " << rank << " in " << describe(c) << direction << ": " << wrong);
            count_cases(1);
          }
        }
      }
    }
  }
}

TEST_CASE("a rank alone looks at its peers' headers") {
  for (int path : {PURLIN_PATH_LATENCY, PURLIN_PATH_THROUGHPUT}) {
    Sums sums(3, 100, path);
    const Ranks ranks(3, kPolicy);
    REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
    purlin_call call = sums.everyone[1];
    call.count = 99;
    CHECK(purlin_run_alone(&call, sums.everyone.data(), ranks.comm(1), nullptr) == PURLIN_MISMATCH);
    CHECK(std::string(purlin_last_error()).find("99") != std::string::npos);
  }
}

TEST_CASE("calls of all ranks that do not fit together are refused with both sides") {
  Sums sums(3, 100, PURLIN_PATH_LATENCY);
  const Ranks ranks(3, kPolicy);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  const purlin_call own = sums.everyone[0];
  sums.everyone[2].count = 7;
  CHECK(purlin_run_alone(&own, sums.everyone.data(), ranks.comm(0), nullptr) == PURLIN_MISMATCH);
  const std::string text = purlin_last_error();
  CHECK_MESSAGE(text.find("on the host") != std::string::npos, text);
  CHECK_MESSAGE(text.find("of 7 ") != std::string::npos, text);
  // Nothing was started: the right calls still can be.
  sums.everyone[2].count = 100;
  CHECK(purlin_run_alone(&own, sums.everyone.data(), ranks.comm(0), nullptr) == PURLIN_OK);
  CHECK(sums.out[0] == std::vector<uint32_t>(100, 6));
}

TEST_CASE("registered buffers keep a rank from running alone") {
  Sums sums(2, 10, PURLIN_PATH_AUTO);
  const Ranks ranks(2, kPolicy);
  std::vector<purlin_registration_t> registrations(2);
  ranks.each([&](int r) {
    const auto at = static_cast<size_t>(r);
    purlin_comm_register(ranks.comm(r), sums.in[at].data(), 40, &registrations[at]);
  });
  CHECK(purlin_run_alone(&sums.everyone[0], sums.everyone.data(), ranks.comm(0), nullptr) ==
        PURLIN_UNSUPPORTED);
  CHECK(std::string(purlin_last_error()).find("registered") != std::string::npos);
  ranks.each(
      [&](int r) { purlin_comm_deregister(ranks.comm(r), registrations[static_cast<size_t>(r)]); });
}

TEST_CASE("a rank runs alone or with its peers, never both") {
  Sums sums(2, 10, PURLIN_PATH_AUTO);
  const purlin_call own = sums.everyone[0];
  {
    const Ranks ranks(2, kPolicy);
    CHECK(purlin_run_alone(&own, nullptr, ranks.comm(0), nullptr) ==
          PURLIN_INVALID_USAGE);  // nothing was written
    CHECK(purlin_run_alone(nullptr, sums.everyone.data(), ranks.comm(0), nullptr) ==
          PURLIN_INVALID_ARGUMENT);
    CHECK(purlin_run_alone(&own, sums.everyone.data(), nullptr, nullptr) ==
          PURLIN_INVALID_ARGUMENT);
    CHECK(purlin_run_alone(&own, sums.everyone.data(), ranks.comm(0), nullptr) == PURLIN_OK);
    CHECK(purlin_run(&own, ranks.comm(0), nullptr) == PURLIN_INVALID_USAGE);
    CHECK(std::string(purlin_last_error()).find("alone") != std::string::npos);
  }
  const Ranks ranks(2, kPolicy);
  ranks.each(
      [&](int r) { purlin_run(&sums.everyone[static_cast<size_t>(r)], ranks.comm(r), nullptr); });
  CHECK(purlin_run_alone(&own, sums.everyone.data(), ranks.comm(0), nullptr) ==
        PURLIN_INVALID_USAGE);
}

TEST_CASE("a call whose staging is used more than once cannot be run alone") {
  Sums sums(2, 1 << 20, PURLIN_PATH_THROUGHPUT);
  const Ranks ranks(2, kPolicy);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  CHECK(purlin_run_alone(&sums.everyone[1], sums.everyone.data(), ranks.comm(1), nullptr) ==
        PURLIN_UNSUPPORTED);
  CHECK(std::string(purlin_last_error()).find("staging.throughput_bytes") != std::string::npos);
}

}  // namespace
