// Send and receive through the public API: what arrives, in which order, and what goes wrong.
#include <doctest/doctest.h>

#include <random>
#include <string>

#include "level.h"
#include "message_plan.h"
#include "ranks.h"

using namespace purlin::test;

TEST_CASE("groups of many messages of any size, issued in any order, arrive whole and in order") {
  std::mt19937_64 random(seed() * 31 + 5);
  for (int n : {1, 2, 3, 5, 8}) {
    const Ranks ranks(n, kSmallSlots);
    REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
    const int rounds = is_full() ? 100 : 12;
    for (int round = 0; round < rounds; ++round) {
      const uint64_t start = random();
      std::vector<std::string> errors(static_cast<size_t>(n));
      ranks.each([&](int r) {
        errors[static_cast<size_t>(r)] = exchange_messages(n, r, start, ranks.comm(r));
      });
      for (int r = 0; r < n; ++r) {
        CAPTURE(n);
        CAPTURE(round);
        CAPTURE(r);
        REQUIRE(errors[static_cast<size_t>(r)] == "");
      }
      count_cases(1);
    }
  }
}

TEST_CASE("messages between some ranks, collectives between all, in turn") {
  const int n = 4;
  const Ranks ranks(n, kSmallSlots);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  std::vector<int> wrong(n);
  ranks.each([&](int r) {
    int& bad = wrong[static_cast<size_t>(r)];
    for (uint32_t i = 0; i < 300; ++i) {
      const int from = static_cast<int>(i % n), to = static_cast<int>((i * 3 + 1) % n);
      const uint64_t count = i % 7 == 0 ? 2000 : i % 5;
      if (from != to && r == from) {
        const std::vector<uint32_t> out(count, i);
        bad += purlin_send(out.data(), count, PURLIN_U32, to, ranks.comm(r), nullptr) != PURLIN_OK;
      }
      if (from != to && r == to) {
        std::vector<uint32_t> in(count, ~0u);
        bad += purlin_recv(in.data(), count, PURLIN_U32, from, ranks.comm(r), nullptr) != PURLIN_OK;
        for (uint32_t v : in) bad += v != i;
      }
      uint32_t one = i + static_cast<uint32_t>(r), sum = 0;
      if (i % 3 != 0) continue;
      bad += purlin_all_reduce(&one, &sum, 1, PURLIN_U32, PURLIN_SUM, ranks.comm(r), nullptr) !=
             PURLIN_OK;
      bad += sum != 4 * i + 6;
    }
  });
  for (int r = 0; r < n; ++r) CHECK(wrong[static_cast<size_t>(r)] == 0);
}

TEST_CASE("a small message needs no receiver at that moment") {
  const Ranks ranks(2);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  ranks.each([&](int r) {  // both send first
    int32_t out = r + 10, in = 0;
    CHECK(purlin_send(&out, 1, PURLIN_I32, 1 - r, ranks.comm(r), nullptr) == PURLIN_OK);
    CHECK(purlin_recv(&in, 1, PURLIN_I32, 1 - r, ranks.comm(r), nullptr) == PURLIN_OK);
    CHECK(in == 11 - r);
  });
}

TEST_CASE("ends that disagree about a message learn both sides, and so do all other ranks") {
  struct Difference {
    uint64_t sent, received;
    purlin_dtype sent_as, received_as;
    const char* words[2];
  };
  const Difference differences[] = {
      {100, 90, PURLIN_F32, PURLIN_F32, {"100 f32", "90 f32"}},
      {0, 399'360, PURLIN_F32, PURLIN_F32, {"0 f32", "399360 f32"}},
      {399'360, 0, PURLIN_F32, PURLIN_F32, {"399360 f32", "0 f32"}},
      {50'000, 3, PURLIN_F32, PURLIN_F32, {"50000 f32", "3 f32"}},
      {50'000, 40'000, PURLIN_F32, PURLIN_F32, {"50000 f32", "40000 f32"}},
      {8, 8, PURLIN_F32, PURLIN_I32, {"8 f32", "8 i32"}},
      {8, 4, PURLIN_F32, PURLIN_F64, {"8 f32", "4 f64"}}};
  for (const Difference& d : differences) {
    const int n = 4;
    const Ranks ranks(n);
    REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
    std::vector<std::string> text(n);
    std::vector<purlin_status> status(n);
    ranks.each([&](int r) {
      std::vector<double> buffer(400'000);
      const auto u = static_cast<size_t>(r);
      if (r == 1)
        status[u] = purlin_send(buffer.data(), d.sent, d.sent_as, 2, ranks.comm(1), nullptr);
      if (r == 2)
        status[u] =
            purlin_recv(buffer.data(), d.received, d.received_as, 1, ranks.comm(2), nullptr);
      // A small send has gone already; its rank and those that wait elsewhere learn it next.
      if (r != 2 && status[u] == PURLIN_OK) status[u] = purlin_barrier(ranks.comm(r), nullptr);
      text[u] = purlin_last_error();
    });
    for (size_t r = 0; r < n; ++r) {
      CAPTURE(r);
      CAPTURE(text[r]);
      CHECK(status[r] == PURLIN_MISMATCH);
      for (const char* word : {d.words[0], d.words[1], "rank 1", "rank 2"})
        CHECK(text[r].find(word) != std::string::npos);
    }
  }
}

TEST_CASE("a receive that meets a collective on its peer is told so, not left to the time limit") {
  const Ranks ranks(3);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  std::vector<std::string> text(3);
  ranks.each([&](int r) {
    float in[4] = {}, out[4] = {};
    const purlin_status status =
        r == 1 ? purlin_recv(out, 4, PURLIN_F32, 0, ranks.comm(r), nullptr)
               : purlin_all_reduce(in, out, 4, PURLIN_F32, PURLIN_SUM, ranks.comm(r), nullptr);
    CHECK(status == PURLIN_MISMATCH);
    text[static_cast<size_t>(r)] = purlin_last_error();
  });
  for (const std::string& t : text) {
    CAPTURE(t);
    for (const char* word : {"receiving a message of 4 f32", "makes all_reduce of 4 f32", "rank 1"})
      CHECK(t.find(word) != std::string::npos);
  }
}

TEST_CASE("a message that never comes ends the wait with who, whom and which") {
  purlin_comm_options options = PURLIN_COMM_OPTIONS_INIT;
  options.policy_text = "version: 1\ntimeouts: {wait: 300ms}\n";  // creation may take longer
  std::vector<purlin_comm_t> comms(3);
  REQUIRE(purlin_comm_create_all(comms.data(), 3, nullptr, &options) == PURLIN_OK);
  float buffer[4] = {};
  CHECK(purlin_send(buffer, 4, PURLIN_F32, 0, comms[2], nullptr) == PURLIN_OK);
  CHECK(purlin_recv(buffer, 4, PURLIN_F32, 2, comms[0], nullptr) == PURLIN_OK);
  CHECK(purlin_recv(buffer, 4, PURLIN_F32, 2, comms[0], nullptr) == PURLIN_TIMEOUT);
  const std::string text = purlin_last_error();
  CAPTURE(text);
  for (const char* word :
       {"rank 0", "rank 2", "receiving a message of 4 f32", "sequence number 2", "chunk 0"})
    CHECK(text.find(word) != std::string::npos);
  CHECK(purlin_comm_async_error(comms[1]) == PURLIN_TIMEOUT);
  for (purlin_comm_t comm : comms) purlin_comm_destroy(comm);
}

TEST_CASE("abort ends a waiting receive, and the peer's leaving does") {
  const Ranks ranks(2);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  ranks.each([&](int r) {
    char byte = 0;
    if (r == 1)
      CHECK(purlin_comm_abort(ranks.comm(1)) == PURLIN_OK);
    else
      CHECK(purlin_recv(&byte, 1, PURLIN_U8, 1, ranks.comm(0), nullptr) == PURLIN_ABORTED);
  });
  std::vector<purlin_comm_t> comms(2);
  purlin_comm_options options = PURLIN_COMM_OPTIONS_INIT;
  options.timeout_ms = 30'000;
  REQUIRE(purlin_comm_create_all(comms.data(), 2, nullptr, &options) == PURLIN_OK);
  CHECK(purlin_comm_destroy(comms[1]) == PURLIN_OK);
  char byte = 0;
  CHECK(purlin_recv(&byte, 1, PURLIN_U8, 1, comms[0], nullptr) == PURLIN_PEER_LOST);
  CHECK(purlin_comm_destroy(comms[0]) == PURLIN_OK);
}

TEST_CASE("bad messages are errors that change nothing") {
  const Ranks ranks(2);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  int32_t a = 5, b = 0;
  const auto text_has = [](const char* word) {
    const std::string text = purlin_last_error();
    CAPTURE(text);
    CHECK(text.find(word) != std::string::npos);
  };
  CHECK(purlin_send(&a, 1, PURLIN_I32, 2, ranks.comm(0), nullptr) == PURLIN_INVALID_ARGUMENT);
  text_has("peer is 2");
  CHECK(purlin_recv(nullptr, 1, PURLIN_I32, 1, ranks.comm(0), nullptr) == PURLIN_INVALID_ARGUMENT);
  text_has("recv is null");
  CHECK(purlin_send(&a, 1, static_cast<purlin_dtype>(PURLIN_DTYPE_COUNT), 1, ranks.comm(0),
                    nullptr) == PURLIN_INVALID_ARGUMENT);
  text_has("dtype is 12");
  CHECK(purlin_send(&a, ~uint64_t{0}, PURLIN_I32, 1, ranks.comm(0), nullptr) ==
        PURLIN_INVALID_ARGUMENT);
  CHECK(purlin_send(&a, 1, PURLIN_I32, 0, ranks.comm(0), nullptr) == PURLIN_INVALID_ARGUMENT);
  text_has("in one group");
  purlin_group_start();
  CHECK(purlin_send(&a, 1, PURLIN_I32, 0, ranks.comm(0), nullptr) == PURLIN_OK);
  CHECK(purlin_recv(&b, 1, PURLIN_F32, 0, ranks.comm(0), nullptr) == PURLIN_OK);
  CHECK(purlin_group_end() == PURLIN_INVALID_ARGUMENT);
  text_has("1 i32");
  purlin_group_start();
  CHECK(purlin_send(&a, 1, PURLIN_I32, 0, ranks.comm(0), nullptr) == PURLIN_OK);
  CHECK(purlin_recv(&b, 1, PURLIN_I32, 0, ranks.comm(0), nullptr) == PURLIN_OK);
  CHECK(purlin_group_end() == PURLIN_OK);
  CHECK(b == 5);
  ranks.each([&](int r) {
    int32_t value = r;
    CHECK((r == 0 ? purlin_send(&value, 1, PURLIN_I32, 1, ranks.comm(0), nullptr)
                  : purlin_recv(&value, 1, PURLIN_I32, 0, ranks.comm(1), nullptr)) == PURLIN_OK);
    CHECK(value == 0);
  });
}

TEST_CASE("a message that was sent arrives though its sender has left") {
  std::vector<purlin_comm_t> comms(2);
  purlin_comm_options options = PURLIN_COMM_OPTIONS_INIT;
  options.timeout_ms = 30'000;
  REQUIRE(purlin_comm_create_all(comms.data(), 2, nullptr, &options) == PURLIN_OK);
  int32_t out = 42, in = 0;
  CHECK(purlin_send(&out, 1, PURLIN_I32, 0, comms[1], nullptr) == PURLIN_OK);
  CHECK(purlin_comm_destroy(comms[1]) == PURLIN_OK);
  CHECK(purlin_recv(&in, 1, PURLIN_I32, 1, comms[0], nullptr) == PURLIN_OK);
  CHECK(in == 42);
  CHECK(purlin_comm_destroy(comms[0]) == PURLIN_OK);
}

TEST_CASE("a rank that refuses its end of a message, or its group, ends the peers' wait") {
  for (const bool grouped : {false, true}) {
    const Ranks ranks(2);
    REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
    ranks.each([&](int r) {
      int32_t value = 0;
      if (r == 0) {
        if (grouped) purlin_group_start();
        CHECK(purlin_send(nullptr, 1, PURLIN_I32, 1, ranks.comm(0), nullptr) ==
              PURLIN_INVALID_ARGUMENT);
        if (grouped) CHECK(purlin_group_end() == PURLIN_INVALID_ARGUMENT);
        return;
      }
      CHECK(purlin_recv(&value, 1, PURLIN_I32, 0, ranks.comm(1), nullptr) ==
            PURLIN_INVALID_ARGUMENT);
      const std::string text = purlin_last_error();
      CAPTURE(text);
      CHECK(text.find("refused its arguments") != std::string::npos);
      CHECK(text.find("rank 0") != std::string::npos);
    });
  }
}
