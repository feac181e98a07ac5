// What goes wrong on one rank or all: an error that says so, and nobody hangs.
#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "ranks.h"

using namespace purlin::test;

TEST_CASE("bad arguments on all ranks are errors that change nothing") {
  const Ranks ranks(3);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  ranks.each([&](int r) {
    float in[64] = {}, out[64] = {};
    purlin_comm_t comm = ranks.comm(r);
    CHECK(purlin_all_reduce(nullptr, out, 4, PURLIN_F32, PURLIN_SUM, comm, nullptr) ==
          PURLIN_INVALID_ARGUMENT);
    CHECK(std::string(purlin_last_error()).find("send is null") != std::string::npos);
    CHECK(purlin_all_reduce(in, in + 1, 8, PURLIN_F32, PURLIN_SUM, comm, nullptr) ==
          PURLIN_INVALID_ARGUMENT);
    CHECK(std::string(purlin_last_error()).find("overlap") != std::string::npos);
    purlin_call odd{};
    odd.struct_size = sizeof odd;
    odd.collective = PURLIN_ALL_REDUCE;
    odd.dtype = 99;
    CHECK(purlin_run(&odd, comm, nullptr) == PURLIN_INVALID_ARGUMENT);
    CHECK(purlin_all_gather(in, out, ~uint64_t{0} / 2, PURLIN_F32, comm, nullptr) ==
          PURLIN_INVALID_ARGUMENT);
    CHECK(purlin_broadcast(in, out, 4, PURLIN_F32, 3, comm, nullptr) == PURLIN_INVALID_ARGUMENT);
    for (float& v : in) v = 1;
    REQUIRE(purlin_all_reduce(in, out, 64, PURLIN_F32, PURLIN_SUM, comm, nullptr) == PURLIN_OK);
    CHECK(out[63] == 3.0f);
  });
}

TEST_CASE("ranks that disagree about a call learn both sides, whatever path each took") {
  struct Difference {
    const char* words[2];
    purlin_status (*call)(int rank, float* in, float* out, purlin_comm_t comm);
  };
  const Difference differences[] = {
      {{"409 f32", "400 f32"},
       [](int r, float* in, float* out, purlin_comm_t comm) {
         return purlin_all_reduce(in, out, r == 1 ? 400 : 409, PURLIN_F32, PURLIN_SUM, comm, nullptr);
       }},
      {{"all_reduce of 4 f32", "all_reduce of 60000 f32"},
       [](int r, float* in, float* out, purlin_comm_t comm) {
         return purlin_all_reduce(in, out, r == 1 ? 60000 : 4, PURLIN_F32, PURLIN_SUM, comm, nullptr);
       }},
      {{"sum", "max"},
       [](int r, float* in, float* out, purlin_comm_t comm) {
         return purlin_all_reduce(in, out, 4, PURLIN_F32, r == 1 ? PURLIN_MAX : PURLIN_SUM, comm, nullptr);
       }},
      {{"all_reduce", "all_gather"},
       [](int r, float* in, float* out, purlin_comm_t comm) {
         return r == 1 ? purlin_all_gather(in, out, 4, PURLIN_F32, comm, nullptr)
                       : purlin_all_reduce(in, out, 4, PURLIN_F32, PURLIN_SUM, comm, nullptr);
       }},
      {{"root 0", "root 2"},
       [](int r, float* in, float* out, purlin_comm_t comm) {
         return purlin_broadcast(in, out, 4, PURLIN_F32, r == 1 ? 2 : 0, comm, nullptr);
       }}};
  for (const Difference& difference : differences) {
    const Ranks ranks(3);
    REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
    std::vector<std::string> text(3);
    std::vector<purlin_status> status(3);
    ranks.each([&](int r) {
      std::vector<float> in(70000, 1.0f), out(210000, 0.0f);
      status[static_cast<size_t>(r)] = difference.call(r, in.data(), out.data(), ranks.comm(r));
      text[static_cast<size_t>(r)] = purlin_last_error();
    });
    for (size_t r = 0; r < 3; ++r) {
      CAPTURE(text[r]);
      CHECK(status[r] == PURLIN_MISMATCH);
      for (const char* word : difference.words) CHECK(text[r].find(word) != std::string::npos);
    }
  }
}

TEST_CASE("a rank that never comes ends the others' wait with who, whom and where") {
  purlin_comm_options options = PURLIN_COMM_OPTIONS_INIT;
  options.policy_text = "version: 1\ntimeouts: {wait: 300ms}\n";  // creation may take longer
  std::vector<purlin_comm_t> comms(3);
  REQUIRE(purlin_comm_create_all(comms.data(), 3, nullptr, &options) == PURLIN_OK);
  const Ranks others(2);
  others.each([&](int r) {
    float in[4] = {}, out[4] = {};
    CHECK(purlin_all_reduce(in, out, 4, PURLIN_F32, PURLIN_SUM, comms[static_cast<size_t>(r)],
                            nullptr) == PURLIN_TIMEOUT);
    const std::string text = purlin_last_error();
    CAPTURE(text);
    for (const char* word : {"rank 2", "all_reduce of 4 f32", "epoch 1", "chunk 0"})
      CHECK(text.find(word) != std::string::npos);
    // Another communicator of the same threads is not touched.
    REQUIRE(purlin_all_reduce(in, out, 4, PURLIN_F32, PURLIN_SUM, others.comm(r), nullptr) == PURLIN_OK);
  });
  float in[4] = {}, out[4] = {};
  // The late rank learns the reason once, then that the communicator is broken.
  CHECK(purlin_all_reduce(in, out, 4, PURLIN_F32, PURLIN_SUM, comms[2], nullptr) == PURLIN_TIMEOUT);
  CHECK(purlin_all_reduce(in, out, 4, PURLIN_F32, PURLIN_SUM, comms[2], nullptr) == PURLIN_BROKEN);
  CHECK(purlin_comm_async_error(comms[0]) == PURLIN_TIMEOUT);
  for (purlin_comm_t comm : comms) CHECK(purlin_comm_destroy(comm) == PURLIN_OK);
  CHECK(purlin_comm_destroy(comms[0]) == PURLIN_INVALID_ARGUMENT);
}

TEST_CASE("abort ends a waiting peer") {
  const Ranks ranks(2);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  ranks.each([&](int r) {
    if (r == 1) {
      CHECK(purlin_comm_abort(ranks.comm(1)) == PURLIN_OK);
      return;
    }
    float in[4] = {}, out[4] = {};
    const purlin_status status =
        purlin_all_reduce(in, out, 4, PURLIN_F32, PURLIN_SUM, ranks.comm(0), nullptr);
    CHECK(status == PURLIN_ABORTED);
    CHECK(std::string(purlin_last_error()).find("purlin_comm_abort") != std::string::npos);
  });
}

TEST_CASE("a split makes communicators of the ranks of one color") {
  const Ranks ranks(5);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  ranks.each([&](int r) {
    purlin_comm_t part = nullptr;
    REQUIRE(purlin_comm_split(ranks.comm(r), r == 4 ? -1 : r % 2, -r, &part) == PURLIN_OK);
    if (r == 4) {
      CHECK(part == nullptr);
      return;
    }
    int rank = -1, size = 0;
    CHECK(purlin_comm_rank(part, &rank) == PURLIN_OK);
    CHECK(purlin_comm_size(part, &size) == PURLIN_OK);
    CHECK(size == 2);
    CHECK(rank == (r < 2 ? 1 : 0));  // keys descend
    int32_t in = r, out = 0;
    CHECK(purlin_all_reduce(&in, &out, 1, PURLIN_I32, PURLIN_SUM, part, nullptr) == PURLIN_OK);
    CHECK(out == (r % 2 == 0 ? 2 : 4));
    CHECK(purlin_comm_destroy(part) == PURLIN_OK);
  });
}
