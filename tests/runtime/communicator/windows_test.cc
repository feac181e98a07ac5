// Registered buffers: calls on them, on parts of them, and beside them, on some ranks or all.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "level.h"
#include "ranks.h"
#include "reference/element.h"
#include "sweep_case.h"

using namespace purlin::test;
namespace reference = purlin::reference;

namespace {

// Copies stay off process_vm_readv by their size: what is tried here are windows.
const char* const kPushed =
    "version: 1\nstaging: {latency_bytes: 64KiB, throughput_bytes: 64KiB}\ncrossover: 1KiB\n"
    "tuning: {default: {chunk: 1KiB, direction: push}}\n";

bool has(int status, std::string* wrong) {
  if (status != PURLIN_OK && wrong->empty()) *wrong = purlin_last_error();
  return status == PURLIN_OK;
}

// Runs `c` on every rank; bit 2r + i of `registered`: rank r registers its buffer i (0 send, 1
// recv) and another one otherwise.
void run_registered(const Ranks& ranks, Case c, uint64_t registered, std::mt19937_64& random) {
  c.seed = random();
  const std::vector<Bytes> in = inputs_of(c);
  std::vector<std::string> said(static_cast<size_t>(c.n));
  ranks.each([&](int r) {
    const purlin_comm_t comm = ranks.comm(r);
    said[static_cast<size_t>(r)] =
        run_rank(c, r, in, [&](const purlin_call& call, auto memory) -> std::string {
          std::string wrong;
          std::vector<unsigned char> other(64);
          purlin_registration_t made[2] = {};
          for (size_t i = 0; i < 2; ++i) {
            const bool own = (registered >> (2 * r + static_cast<int>(i)) & 1) != 0;
            const std::span<unsigned char> bytes = own ? memory[i] : std::span(other);
            has(purlin_comm_register(comm, bytes.data(), bytes.size(), &made[i]), &wrong);
          }
          has(purlin_run(&call, comm, nullptr), &wrong);
          for (purlin_registration_t one : made) has(purlin_comm_deregister(comm, one), &wrong);
          return wrong;
        });
  });
  for (int r = 0; r < c.n; ++r) {
    CAPTURE(registered);
    REQUIRE_MESSAGE(said[static_cast<size_t>(r)] == "",
                    "rank " << r << " in " << describe(c) << ": " << said[static_cast<size_t>(r)]);
  }
  count_cases(1);
}

// What purlin_explain says of an all_reduce.
std::string explained(purlin_comm_t comm) {
  purlin_query query{};
  query.struct_size = sizeof query;
  query.comm = comm;
  query.collective = PURLIN_ALL_REDUCE;
  query.dtype = PURLIN_F32;
  query.bytes = 1 << 20;
  char* json = nullptr;
  REQUIRE_MESSAGE(purlin_explain(&query, &json) == PURLIN_OK, purlin_last_error());
  const std::string text = json;
  purlin_free_text(json);
  return text;
}

}  // namespace

TEST_CASE("calls on registered buffers, all or some, in place or not, are exact") {
  std::mt19937_64 random(seed() * 31 + 5);
  const int collectives[] = {PURLIN_ALL_GATHER, PURLIN_REDUCE_SCATTER, PURLIN_ALL_REDUCE,
                             PURLIN_ALL_TO_ALL, PURLIN_BROADCAST,      PURLIN_REDUCE,
                             PURLIN_SCATTER,    PURLIN_GATHER};
  for (const char* policy : {kSmallStaging, kPushed}) {
    for (int n : {2, 3, 4, 8}) {
      const Ranks ranks(n, policy);
      REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
      for (int collective : collectives) {
        for (bool in_place : {false, true}) {
          for (uint64_t registered : {~uint64_t{0}, random()}) {
            if (!is_tried(random, 3)) continue;
            const int dtype = static_cast<int>(random() % PURLIN_DTYPE_COUNT);
            const int op = reduces(collective) ? static_cast<int>(random() % PURLIN_PREMUL_SUM) : 0;
            const uint64_t count = random() % 3 == 0 ? random() % 100 : 1000 + random() % 20'000;
            run_registered(ranks,
                           Case{collective, n, dtype, op, PURLIN_PATH_AUTO, count, random() % 16,
                                in_place, static_cast<int>(random() % static_cast<uint64_t>(n)), 0},
                           registered, random);
          }
        }
      }
    }
  }
}

TEST_CASE(
    "an input may be overwritten as soon as its call is over, and not be read before it begins") {
  const int n = 3;
  const Ranks ranks(n, kSmallStaging);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  const uint32_t rounds = is_full() ? 2000 : 200;
  const uint64_t count = 10'000;
  std::vector<std::string> said(n);
  std::vector<uint64_t> wrong_values(n, 0);
  ranks.each([&](int r) {
    const purlin_comm_t comm = ranks.comm(r);
    std::string& wrong = said[static_cast<size_t>(r)];
    // Input, in front of output: one registration holds both.
    std::vector<uint32_t> buffer(2 * count);
    purlin_registration_t made = nullptr;
    if (!has(purlin_comm_register(comm, buffer.data(), buffer.size() * 4, &made), &wrong)) return;
    for (uint32_t round = 0; round < rounds; ++round) {
      std::fill_n(buffer.begin(), count, round);
      const bool apart = round % 2 == 0;
      uint32_t* out = buffer.data() + (apart ? count : 0);
      has(purlin_all_reduce(buffer.data(), out, count, PURLIN_U32, PURLIN_SUM, comm, nullptr),
          &wrong);
      for (uint64_t i = 0; i < count; ++i)
        wrong_values[static_cast<size_t>(r)] += out[i] != round * n;
      std::fill(buffer.begin(), buffer.end(), ~0u);  // peers must have read all they need
    }
    has(purlin_comm_deregister(comm, made), &wrong);
  });
  for (size_t r = 0; r < n; ++r) {
    CHECK(said[r] == "");
    CHECK(wrong_values[r] == 0);
  }
}

TEST_CASE("messages of different sizes between pairs, from registered buffers") {
  const int n = 3;
  const Ranks ranks(n, kSmallStaging);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  std::mt19937_64 random(seed() * 31 + 6);
  for (int trial = 0; trial < 20; ++trial) {
    uint64_t counts[3][3];
    for (auto& row : counts)
      for (uint64_t& one : row) one = random() % 4 == 0 ? random() % 40 : random() % 9000;
    std::vector<std::string> said(n);
    ranks.each([&](int rank) {
      const auto r = static_cast<size_t>(rank);
      const purlin_comm_t comm = ranks.comm(rank);
      uint64_t send_counts[3], recv_counts[3], sent = 0, received = 0;
      for (size_t p = 0; p < 3; ++p) {
        sent += send_counts[p] = counts[r][p];
        received += recv_counts[p] = counts[p][r];
      }
      std::vector<unsigned char> send(sent + 1), recv(received + 1);
      uint64_t at = 0;
      for (size_t p = 0; p < 3; ++p)
        for (uint64_t i = 0; i < send_counts[p]; ++i)
          send[at++] = static_cast<unsigned char>(r * 100 + p * 30 + i);
      purlin_registration_t made = nullptr;
      has(purlin_comm_register(comm, send.data(), send.size(), &made), &said[r]);
      has(purlin_all_to_all_v(send.data(), send_counts, nullptr, recv.data(), recv_counts, nullptr,
                              PURLIN_U8, comm, nullptr),
          &said[r]);
      std::fill(send.begin(), send.end(), 0xdd);
      has(purlin_comm_deregister(comm, made), &said[r]);
      at = 0;
      for (size_t p = 0; p < 3; ++p)
        for (uint64_t i = 0; i < recv_counts[p]; ++i)
          if (recv[at++] != static_cast<unsigned char>(p * 100 + r * 30 + i))
            said[r] = "wrong byte";
    });
    for (const std::string& one : said) REQUIRE(one == "");
    count_cases(1);
  }
}

TEST_CASE("registering what no memory can be is refused on every rank, and nothing is left open") {
  const Ranks ranks(2);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  std::vector<unsigned char> buffer(100);
  const struct {
    void* buffer;
    uint64_t bytes;
    const char* words;
  } wrong[] = {
      {nullptr, 100, "register memory that is there"},
      {buffer.data(), 0, "register memory that is there"},
      {buffer.data(), ~uint64_t{0}, "end of the address space"},
      {reinterpret_cast<void*>(~uintptr_t{0} - 98), 100, "end of the address space"},
      {buffer.data(), (uint64_t{1} << 48) + 1, "at most 281474976710656 bytes"},
  };
  for (const auto& one : wrong) {
    std::string said[2];
    ranks.each([&](int r) {
      purlin_registration_t made = nullptr;
      const int status =
          r == 0 ? purlin_comm_register(ranks.comm(r), one.buffer, one.bytes, &made)
                 : purlin_comm_register(ranks.comm(r), buffer.data(), 100, &made);
      if (status == PURLIN_INVALID_ARGUMENT && made == nullptr) said[r] = purlin_last_error();
    });
    for (const std::string& text : said) {
      CHECK_MESSAGE(text.find("rank 0") != std::string::npos, text);
      CHECK_MESSAGE(text.find(one.words) != std::string::npos, text);
    }
    count_cases(1);
  }
  CHECK(explained(ranks.comm(0)).find("open registrations: 0") != std::string::npos);
}

TEST_CASE("a registration ends once, and what is left of it is an error that says so") {
  std::vector<unsigned char> buffers[2] = {std::vector<unsigned char>(100),
                                           std::vector<unsigned char>(100)};
  purlin_registration_t outlived[2] = {};
  const auto refused = [](purlin_comm_t comm, purlin_registration_t handle, const char* words) {
    if (purlin_comm_deregister(comm, handle) != PURLIN_INVALID_ARGUMENT) return std::string("taken");
    const std::string text = purlin_last_error();
    return text.find(words) != std::string::npos ? std::string() : text;
  };
  const Ranks other(2);
  REQUIRE_MESSAGE(other.creation_error().empty(), other.creation_error());
  {
    const Ranks ranks(2);
    REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
    purlin_registration_t made[2] = {}, again[2] = {};
    std::string said[2];
    const auto enroll = [&](purlin_registration_t* handles) {
      ranks.each([&](int r) {
        has(purlin_comm_register(ranks.comm(r), buffers[r].data(), 100, &handles[r]), &said[r]);
      });
    };
    enroll(made);
    for (int r = 0; r < 2; ++r) {
      CHECK(refused(other.comm(r), made[r], "another communicator") == "");
      CHECK(refused(ranks.comm(1 - r), made[r], "another communicator") == "");
      CHECK(purlin_comm_deregister(ranks.comm(r), made[r]) == PURLIN_OK);
    }
    enroll(again);  // where the first ones were
    enroll(outlived);
    for (int r = 0; r < 2; ++r) {
      CHECK(refused(ranks.comm(r), made[r], "was deregistered already") == "");
      CHECK(refused(ranks.comm(r), reinterpret_cast<purlin_registration_t>(&said), "is no registration") ==
            "");
      CHECK(purlin_comm_deregister(ranks.comm(r), again[r]) == PURLIN_OK);
      CHECK(said[r] == "");
    }
    CHECK(explained(ranks.comm(0)).find("open registrations: 1") != std::string::npos);
  }
  for (int r = 0; r < 2; ++r)
    CHECK(refused(other.comm(r), outlived[r], "its communicator was destroyed") == "");
}

TEST_CASE("so many buffers can be registered at a time, and calls name the right one of them") {
  const int n = 2;
  constexpr size_t kMost = 256;
  const uint64_t count = 2000;
  const Ranks ranks(n, kSmallStaging);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  std::vector<std::string> said(n);
  std::vector<int> refused(n, PURLIN_OK);
  ranks.each([&](int rank) {
    const auto r = static_cast<size_t>(rank);
    const purlin_comm_t comm = ranks.comm(rank);
    std::vector<std::vector<uint32_t>> buffers(kMost + 1, std::vector<uint32_t>(count));
    std::vector<purlin_registration_t> made(kMost + 1, nullptr);
    const auto enroll = [&](size_t i) {
      return purlin_comm_register(comm, buffers[i].data(), count * 4, &made[i]);
    };
    const auto reduce = [&](size_t i) {
      for (uint64_t k = 0; k < count; ++k) buffers[i][k] = static_cast<uint32_t>(r * 100 + i + k);
      has(purlin_all_reduce(buffers[i].data(), buffers[i].data(), count, PURLIN_U32, PURLIN_SUM, comm,
                            nullptr), &said[r]);
      for (uint64_t k = 0; k < count; ++k)
        if (buffers[i][k] != 100 + 2 * (i + k)) said[r] = "a wrong sum";
    };
    for (size_t i = 0; i < kMost; ++i) has(enroll(i), &said[r]);
    refused[r] = enroll(kMost);
    for (size_t i = 0; i < kMost; i += 37) reduce(i);
    has(purlin_comm_deregister(comm, made[5]), &said[r]);
    reduce(5);
    has(enroll(kMost), &said[r]);
    reduce(kMost);
    made[5] = nullptr;
    for (purlin_registration_t one : made)
      if (one != nullptr) has(purlin_comm_deregister(comm, one), &said[r]);
  });
  for (size_t r = 0; r < n; ++r) {
    CHECK(said[r] == "");
    CHECK(refused[r] == PURLIN_UNSUPPORTED);
  }
}

TEST_CASE("a rank that waits for its peers' exits can be aborted, and says whom it waited for") {
  const Ranks ranks(2, kSmallStaging);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  const uint64_t count = 5000;
  std::vector<uint32_t> buffers[2] = {std::vector<uint32_t>(2 * count), std::vector<uint32_t>(2 * count)};
  int status[2] = {};
  std::string text[2];
  purlin_registration_t made[2] = {};
  ranks.each([&](int r) {
    status[r] = purlin_comm_register(ranks.comm(r), buffers[r].data(), 8 * count, &made[r]);
  });
  CHECK(status[0] == PURLIN_OK);
  // Broadcast from rank 0 alone: it has nothing to take, and its peer never comes.
  ranks.each([&](int r) {
    if (r == 0) {
      status[0] = purlin_scatter(buffers[0].data(), buffers[0].data(), count, PURLIN_U32, 0,
                                 ranks.comm(0), nullptr);
      text[0] = purlin_last_error();
    } else {
      purlin_comm_abort(ranks.comm(1));
    }
  });
  CHECK(status[0] == PURLIN_ABORTED);
  CHECK_MESSAGE(text[0].find("rank 1") != std::string::npos, text[0]);
  // The handle goes with the call, whatever a broken communicator says.
  for (int r = 0; r < 2; ++r) static_cast<void>(purlin_comm_deregister(ranks.comm(r), made[r]));
}

TEST_CASE("explain says what is read in place, and how many buffers are registered") {
  const Ranks ranks(2, kSmallStaging);
  const Ranks staged(2, "version: 1\ncrossover: 1KiB\ntuning: {default: {zero_copy: off}}\n");
  std::vector<unsigned char> buffers[2] = {std::vector<unsigned char>(100),
                                           std::vector<unsigned char>(100)};
  purlin_registration_t made[2] = {};
  ranks.each([&](int r) {
    CHECK(purlin_comm_register(ranks.comm(r), buffers[r].data(), 100, &made[r]) == PURLIN_OK);
  });
  CHECK(explained(ranks.comm(0)).find("open registrations: 1, of which all peers have mapped 1") !=
        std::string::npos);
  ranks.each([&](int r) { CHECK(purlin_comm_deregister(ranks.comm(r), made[r]) == PURLIN_OK); });
  CHECK(explained(ranks.comm(0)).find("open registrations: 0") != std::string::npos);
  if (staged.creation_error().empty())
    CHECK(explained(staged.comm(0)).find("zero_copy off") != std::string::npos);
  else FAIL(staged.creation_error());
}
