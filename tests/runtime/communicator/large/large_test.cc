// Results, inputs and displacements beyond 2^31 and 2^32 bytes.
#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "level.h"
#include "runtime/communicator/large/vast.h"
#include "runtime/communicator/ranks.h"

using namespace purlin::test;

namespace {

constexpr uint64_t kTwo31 = uint64_t{1} << 31, kTwo32 = uint64_t{1} << 32;

enum class What { kAllGather, kReduceScatter, kAllReduce, kMessage };

struct Sizes {
  uint64_t send, recv;  // bytes of the buffers
  uint64_t send_phase;  // where own input lies in the whole
  uint64_t recv_phase;
  unsigned times;  // ranks that are added
};

Sizes sizes_of(What what, uint64_t r) {
  const uint64_t part = kTwo31 + 17;
  switch (what) {
    case What::kAllGather:
      return {part, 2 * part, r * part, 0, 1};
    case What::kReduceScatter:
      return {2 * part, part, 0, r * part, 2};
    case What::kAllReduce:
      return {kTwo32 + 3, kTwo32 + 3, 0, 0, 2};
    default:
      return {kTwo32 + 5, kTwo32 + 5, 0, 0, 1};
  }
}

purlin_status run(What what, int r, Vast& send, Vast& recv, purlin_comm_t comm) {
  const uint64_t part = kTwo31 + 17;
  switch (what) {
    case What::kAllGather:
      return purlin_all_gather(send.data(), recv.data(), part, PURLIN_U8, comm, nullptr);
    case What::kReduceScatter:
      return purlin_reduce_scatter(send.data(), recv.data(), part, PURLIN_U8, PURLIN_SUM, comm,
                                   nullptr);
    case What::kAllReduce:
      return purlin_all_reduce(send.data(), recv.data(), kTwo32 + 3, PURLIN_U8, PURLIN_SUM, comm,
                               nullptr);
    default:
      return r == 0 ? purlin_send(send.data(), kTwo32 + 5, PURLIN_U8, 1, comm, nullptr)
                    : purlin_recv(recv.data(), kTwo32 + 5, PURLIN_U8, 0, comm, nullptr);
  }
}

// Shadow memory of the sanitizers is several times what is mapped.
bool is_sanitized() {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  return true;
#else
  return false;
#endif
}

void check(What what, bool real) {
  if (is_sanitized()) return skip("4 GiB mapped under a sanitizer need more memory than there is");
  CAPTURE(static_cast<int>(what));
  const Ranks ranks(2);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  ranks.each([&](int r) {
    const Sizes sizes = sizes_of(what, static_cast<uint64_t>(r));
    Vast send(sizes.send, real), recv(sizes.recv, real);
    REQUIRE(send.mapped());
    REQUIRE(recv.mapped());
    send.fill(sizes.send_phase);
    recv.poison();
    const purlin_status status = run(what, r, send, recv, ranks.comm(r));
    const std::string text = purlin_last_error();
    REQUIRE_MESSAGE(status == PURLIN_OK, text);
    CHECK(send.first_wrong(sizes.send_phase, 1) == sizes.send);
    if (what != What::kMessage || r == 1)
      CHECK(recv.first_wrong(sizes.recv_phase, sizes.times) == sizes.recv);
  });
  count_cases(1);
}

uint64_t available_memory() {
  std::ifstream table("/proc/meminfo");
  for (std::string word; table >> word;)
    if (word == "MemAvailable:") {
      uint64_t kib = 0;
      table >> kib;
      return kib * 1024;
    }
  return 0;
}

}  // namespace

TEST_CASE("4 GiB and a little, of each kind") {
  const What quick[] = {What::kAllGather, What::kReduceScatter, What::kMessage};
  if (!is_full()) return check(quick[seed() % 3], false);
  for (const What what : quick) check(what, false);
  check(What::kAllReduce, false);
}

TEST_CASE("4 GiB and a little, in memory of its own") {
  if (!is_full()) return skip("13 GiB of memory are used by ./test.sh --full only");
  if (available_memory() < 16 * (kTwo32 / 4))
    return skip("less than 16 GiB of memory are available");
  check(What::kAllGather, true);
}

TEST_CASE("small parts whose displacements lie beyond 5 GiB") {
  const Ranks ranks(2);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  if (is_sanitized()) return skip("20 GiB mapped under a sanitizer need more memory than there is");
  const uint64_t far =
      5 * (kTwo32 / 4) + 4096;  // beyond 2^32 once multiplied by the element's 4 bytes
  ranks.each([&](int r) {
    Vast recv(far * 4 + 4096, true),
        send(far * 4 + 4096, true);  // pages that nobody touches need no memory
    REQUIRE(recv.mapped());
    REQUIRE(send.mapped());
    auto* const out = reinterpret_cast<int32_t*>(recv.data());
    auto* const in = reinterpret_cast<int32_t*>(send.data());
    const uint64_t counts[] = {90, 70}, displs[] = {3, far};
    for (uint64_t p = 0; p < 2; ++p)
      for (uint64_t i = 0; i < counts[p]; ++i)
        in[displs[p] + i] = static_cast<int32_t>(1000 * p + i) + 100'000 * (r + 1);
    const int32_t* own = in + displs[r];
    CHECK(purlin_all_gather_v(own, counts[r], out, counts, displs, PURLIN_I32, ranks.comm(r),
                              nullptr) == PURLIN_OK);
    for (uint64_t p = 0; p < 2; ++p)
      for (uint64_t i = 0; i < counts[p]; ++i)
        CHECK(out[displs[p] + i] ==
              static_cast<int32_t>(1000 * p + i) + 100'000 * static_cast<int32_t>(p + 1));
    int32_t sum[90] = {};
    CHECK(purlin_reduce_scatter_v(in, counts, displs, sum, PURLIN_I32, PURLIN_SUM, ranks.comm(r),
                                  nullptr) == PURLIN_OK);
    for (uint64_t i = 0; i < counts[r]; ++i)
      CHECK(sum[i] == 2 * static_cast<int32_t>(1000 * static_cast<uint64_t>(r) + i) + 300'000);
    // Where an offset that wraps at 2^32 bytes would have written.
    CHECK(out[far - kTwo32 / 4] == 0);
  });
}
