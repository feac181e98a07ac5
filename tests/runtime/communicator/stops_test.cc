// Registrations and splits wait for all ranks like calls do: what stops a rank ends them too.
#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "open_sockets.h"
#include "ranks.h"

using namespace purlin::test;

namespace {

constexpr int kRanks = 3;
constexpr auto kSoon = std::chrono::seconds(20);  // the limit of `Ranks` is 30

struct Answer {
  purlin_status status = PURLIN_OK;
  std::string text;
};

Answer answer(purlin_status status) {
  return {status, status == PURLIN_OK ? "" : purlin_last_error()};
}

Answer enroll(purlin_comm_t comm) {
  static unsigned char memory[256];
  purlin_registration_t made = nullptr;
  return answer(purlin_comm_register(comm, memory, sizeof memory, &made));
}

Answer split(purlin_comm_t comm) {
  purlin_comm_t part = nullptr;
  const Answer said = answer(purlin_comm_split(comm, 0, 0, &part));
  if (part != nullptr) purlin_comm_destroy(part);
  return said;
}

struct Exchange {
  const char* name;
  Answer (*make)(purlin_comm_t comm);
};
constexpr Exchange kExchanges[] = {{"registration", enroll}, {"split", split}};

void check_says(const Answer& said, purlin_status status, const std::vector<std::string>& parts) {
  CHECK_MESSAGE(said.status == status, said.text);
  for (const std::string& part : parts)
    CHECK_MESSAGE(said.text.find(part) != std::string::npos, said.text, " lacks: ", part);
}

}  // namespace

TEST_CASE("an abort ends a registration or a split that waits for the rank which is aborted") {
  for (const Exchange& exchange : kExchanges) {
    CAPTURE(exchange.name);
    const Ranks ranks(kRanks);
    REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
    const int before = open_sockets(::getpid());
    const auto start = std::chrono::steady_clock::now();
    Answer said[kRanks];
    ranks.each([&](int r) {
      if (r == 0) {
        wait_for_socket(::getpid(), before);
        said[0] = answer(purlin_comm_abort(ranks.comm(0)));
      } else {
        said[r] = exchange.make(ranks.comm(r));
      }
    });
    CHECK(std::chrono::steady_clock::now() - start < kSoon);
    check_says(said[0], PURLIN_OK, {});
    for (int r = 1; r < kRanks; ++r)
      check_says(said[r], PURLIN_ABORTED, {"rank 0", "called purlin_comm_abort"});
    // The rank that did not come hears it from its next call, and all of them only once.
    check_says(exchange.make(ranks.comm(0)), PURLIN_ABORTED, {"rank 0 (this one)"});
    for (int r = 0; r < kRanks; ++r)
      for (const Exchange& later : kExchanges)
        check_says(later.make(ranks.comm(r)), PURLIN_BROKEN,
                   {"broke earlier", "called purlin_comm_abort"});
  }
}

TEST_CASE("an abort of a rank that waits in a registration or a split ends its wait") {
  for (const Exchange& exchange : kExchanges) {
    CAPTURE(exchange.name);
    const Ranks ranks(2);
    REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
    const int before = open_sockets(::getpid());
    const auto start = std::chrono::steady_clock::now();
    Answer said;
    std::thread waiting([&] { said = exchange.make(ranks.comm(1)); });
    wait_for_socket(::getpid(), before);
    CHECK(purlin_comm_abort(ranks.comm(1)) == PURLIN_OK);
    waiting.join();
    CHECK(std::chrono::steady_clock::now() - start < kSoon);
    check_says(said, PURLIN_ABORTED, {"rank 1 (this one)", "called purlin_comm_abort"});
    check_says(exchange.make(ranks.comm(0)), PURLIN_ABORTED, {"rank 1"});
  }
}

TEST_CASE("an error in the peers' call ends a registration or a split that waits for them") {
  for (const Exchange& exchange : kExchanges) {
    CAPTURE(exchange.name);
    const Ranks ranks(kRanks);
    REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
    const int before = open_sockets(::getpid());
    const auto start = std::chrono::steady_clock::now();
    Answer said[kRanks];
    ranks.each([&](int r) {
      if (r == 1) {
        said[r] = exchange.make(ranks.comm(r));
        return;
      }
      wait_for_socket(::getpid(), before);
      const std::vector<float> in(200, 1.0f);
      std::vector<float> out(200);
      said[r] = answer(purlin_all_reduce(in.data(), out.data(), r == 0 ? 100 : 200, PURLIN_F32,
                                         PURLIN_SUM, ranks.comm(r), nullptr));
    });
    CHECK(std::chrono::steady_clock::now() - start < kSoon);
    for (const Answer& one : said)
      check_says(one, PURLIN_MISMATCH, {"all_reduce of 100 f32", "all_reduce of 200 f32"});
  }
}

TEST_CASE("a rank that never comes to a registration or a split is named when the limit is over") {
  for (const Exchange& exchange : kExchanges) {
    CAPTURE(exchange.name);
    const Ranks ranks(kRanks, {}, 1500);
    REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
    Answer said[kRanks];
    ranks.each([&](int r) {
      if (r != 1) said[r] = exchange.make(ranks.comm(r));
    });
    for (const int r : {0, 2}) {
      check_says(said[r], PURLIN_TIMEOUT, {"rank 1 of 3 did not come to exchange "});
      CHECK(said[r].text.find("network namespace") == std::string::npos);
    }
  }
}
