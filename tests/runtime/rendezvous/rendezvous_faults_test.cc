#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "runtime/rendezvous/rank_process.h"
#include "runtime/rendezvous/rank_threads.h"

namespace {

using namespace purlin_test;
using purlin::Rendezvous;
using purlin::Status;

Status join_status(const purlin::JoinOptions& options) {
  auto joined = Rendezvous::join(options);
  return joined.is_ok() ? Status() : joined.status();
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("bad arguments never meet anybody") {
  const auto address = fresh_address();
  CHECK(join_status(options_for(address, 0, 0)).code() == PURLIN_INVALID_ARGUMENT);
  CHECK(join_status(options_for(address, 0, 65)).code() == PURLIN_INVALID_ARGUMENT);
  CHECK(join_status(options_for(address, 2, 2)).code() == PURLIN_INVALID_ARGUMENT);
  CHECK(join_status(options_for(address, -1, 2)).code() == PURLIN_INVALID_ARGUMENT);
  CHECK(join_status(options_for(address, 0, 2, 0)).code() == PURLIN_INVALID_ARGUMENT);
}

TEST_CASE("ranks that never come are named by all who did, within the limit") {
  const auto address = fresh_address();
  const auto start = std::chrono::steady_clock::now();
  const auto said = run_ranks(3, [&](int i) -> std::string {
    const int ranks[] = {0, 3, 5};
    const Status status = join_status(options_for(address, ranks[i], 8, 500));
    PURLIN_RANK_CHECK(status.code() == PURLIN_TIMEOUT);
    PURLIN_RANK_CHECK(contains(status.message(), "ranks 1-2, 4, 6-7 of 8"));
    PURLIN_RANK_CHECK(contains(status.message(), address.name));
    return "";
  });
  for (const auto& text : said) CHECK(text == "");
  CHECK(seconds_since(start) < 5);
  CHECK(sockets_named(address.name) == 0);
}

TEST_CASE("a rank that skips an exchange is named by all others") {
  const auto address = fresh_address();
  std::atomic<int> done{0};
  const auto said = run_ranks(4, [&](int rank) -> std::string {
    auto joined = Rendezvous::join(options_for(address, rank, 4, 1000));
    PURLIN_RANK_OK(joined.status());
    if (rank == 2) {  // stays a member until the others have given up
      while (done != 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return "";
    }
    const Status status = (*joined)->barrier();
    ++done;
    PURLIN_RANK_CHECK(status.code() == PURLIN_TIMEOUT);
    // The hub's verdict names it; when rank 2 is the hub itself, the others can name only the hub.
    PURLIN_RANK_CHECK(contains(status.message(), "rank 2"));
    return "";
  });
  for (const auto& text : said) CHECK(text == "");
}

TEST_CASE("ranks that disagree about the size all hear both numbers") {
  const auto address = fresh_address();
  const auto said = run_ranks(3, [&](int rank) -> std::string {
    const Status status = join_status(options_for(address, rank, rank == 1 ? 4 : 3, 3000));
    PURLIN_RANK_CHECK(status.code() == PURLIN_MISMATCH);
    PURLIN_RANK_CHECK(contains(status.message(), "3") && contains(status.message(), "4"));
    PURLIN_RANK_CHECK(contains(status.message(), "ranks"));
    return "";
  });
  for (const auto& text : said) CHECK(text == "");
}

TEST_CASE("a rank number given twice is found, and both processes are named") {
  const auto address = fresh_address();
  const auto said = run_ranks(3, [&](int i) -> std::string {
    const Status status = join_status(options_for(address, i == 0 ? 0 : 1, 4, 3000));
    PURLIN_RANK_CHECK(status.code() == PURLIN_MISMATCH);
    PURLIN_RANK_CHECK(contains(status.message(), "rank 1 came twice"));
    PURLIN_RANK_CHECK(contains(status.message(), "PURLIN_JOB_ID"));
    return "";
  });
  // Of the two ranks 1 the hub may be one; whoever came hears it.
  for (const auto& text : said) CHECK(text == "");
}

TEST_CASE("different exchanges at one time name both") {
  const auto address = fresh_address();
  const auto said = run_ranks(2, [&](int rank) -> std::string {
    auto joined = Rendezvous::join(options_for(address, rank, 2, 3000));
    PURLIN_RANK_OK(joined.status());
    const Status status =
        rank == 0 ? (*joined)->barrier() : (*joined)->all_gather_blob({}).status();
    PURLIN_RANK_CHECK(status.code() == PURLIN_MISMATCH);
    PURLIN_RANK_CHECK(contains(status.message(), "barrier"));
    PURLIN_RANK_CHECK(contains(status.message(), "exchange of blobs"));
    return "";
  });
  for (const auto& text : said) CHECK(text == "");
}

TEST_CASE("a wrong token is turned away and nobody else is disturbed") {
  const auto address = fresh_address();
  auto forged = address;
  forged.token[31] ^= std::byte{1};
  std::atomic<bool> turned_away{false};
  const auto said = run_ranks(3, [&](int rank) -> std::string {
    if (rank == 2) {  // the intruder claims to be rank 1
      while (sockets_named(address.name) == 0) std::this_thread::yield();
      const Status status = join_status(options_for(forged, 1, 2, 3000));
      turned_away = true;
      PURLIN_RANK_CHECK(status.code() == PURLIN_MISMATCH);
      PURLIN_RANK_CHECK(contains(status.message(), "token"));
      return "";
    }
    while (rank == 1 && !turned_away) std::this_thread::yield();
    auto joined = Rendezvous::join(options_for(address, rank, 2));
    PURLIN_RANK_OK(joined.status());
    PURLIN_RANK_OK((*joined)->barrier());
    return "";
  });
  for (const auto& text : said) CHECK(text == "");
}

TEST_CASE("somebody turned away is mentioned when ranks are missing") {
  const auto address = fresh_address();
  auto forged = address;
  forged.token[0] ^= std::byte{1};
  const auto said = run_ranks(2, [&](int i) -> std::string {
    while (i == 1 && sockets_named(address.name) == 0) std::this_thread::yield();
    const Status status = join_status(options_for(i == 0 ? address : forged, i, 2, 600));
    if (i == 1) return status.code() == PURLIN_MISMATCH ? "" : status.message();
    PURLIN_RANK_CHECK(status.code() == PURLIN_TIMEOUT);
    PURLIN_RANK_CHECK(contains(status.message(), "1 who came were turned away"));
    PURLIN_RANK_CHECK(contains(status.message(), "token"));
    return "";
  });
  for (const auto& text : said) CHECK(text == "");
}

TEST_CASE("an abort ends a join and an exchange soon, on all ranks") {
  std::atomic<bool> cancelled{false};
  const auto address = fresh_address();
  const auto said = run_ranks(3, [&](int rank) -> std::string {
    if (rank == 2) {
      while (sockets_named(address.name) < 2) std::this_thread::yield();
      cancelled = true;
      return "";
    }
    auto options = options_for(address, rank, 3, 60'000);
    options.cancelled = &cancelled;
    const Status status = join_status(options);
    PURLIN_RANK_CHECK(status.code() == PURLIN_ABORTED);
    return "";
  });
  for (const auto& text : said) CHECK(text == "");

  cancelled = false;
  const auto other = fresh_address();
  const auto start = std::chrono::steady_clock::now();
  const auto again = run_ranks(2, [&](int rank) -> std::string {
    auto options = options_for(other, rank, 2, 60'000);
    options.cancelled = rank == 0 ? &cancelled : nullptr;
    auto joined = Rendezvous::join(options);
    PURLIN_RANK_OK(joined.status());
    if (rank == 1) {
      cancelled = true;
      while (cancelled) std::this_thread::yield();
      return "";
    }
    const Status status = (*joined)->barrier();
    cancelled = false;
    PURLIN_RANK_CHECK(status.code() == PURLIN_ABORTED);
    return "";
  });
  for (const auto& text : again) CHECK(text == "");
  CHECK(seconds_since(start) < 30);
}

TEST_CASE("a stop word ends an exchange soon, on each rank once its own word is set") {
  for (const bool parked : {false, true}) {
    CAPTURE(parked);
    uint32_t words[3] = {};
    std::atomic<int> seated{0};
    std::atomic<bool> first_ended{false};
    const auto address = fresh_address();
    const auto start = std::chrono::steady_clock::now();
    const auto said = run_ranks(3, [&](int rank) -> std::string {
      uint32_t* const own = &words[rank];
      auto joined = Rendezvous::join(options_for(address, rank, 3, 60'000));
      PURLIN_RANK_OK(joined.status());
      (*joined)->heed(own);
      if (parked) PURLIN_RANK_OK((*joined)->park());
      ++seated;
      if (rank == 0) {  // does not come
        while (seated < 3) std::this_thread::yield();
        __atomic_store_n(&words[1], 1u, __ATOMIC_RELEASE);
        while (!first_ended) std::this_thread::yield();
        __atomic_store_n(&words[2], 1u, __ATOMIC_RELEASE);
        while (seated < 5) std::this_thread::yield();
        return "";
      }
      const Status status = (*joined)->barrier();
      const bool stopped = __atomic_load_n(own, __ATOMIC_ACQUIRE) != 0;
      if (rank == 1) first_ended = true;
      ++seated;
      PURLIN_RANK_CHECK(status.code() == PURLIN_ABORTED);
      PURLIN_RANK_CHECK(stopped);
      return "";
    });
    for (const auto& text : said) CHECK(text == "");
    CHECK(seconds_since(start) < 30);
  }
}

TEST_CASE("a stop word that is set ends a join") {
  const uint32_t word = 1;
  auto options = options_for(fresh_address(), 0, 2, 60'000);
  options.stop = &word;
  CHECK(join_status(options).code() == PURLIN_ABORTED);
}

TEST_CASE("members that do not come to an exchange are named, and nobody asks where they started") {
  const auto address = fresh_address();
  std::atomic<bool> ended{false};
  const auto said = run_ranks(2, [&](int rank) -> std::string {
    auto joined = Rendezvous::join(options_for(address, rank, 2, 800));
    PURLIN_RANK_OK(joined.status());
    PURLIN_RANK_OK((*joined)->park());
    if (rank == 0) {
      while (!ended) std::this_thread::yield();
      return "";
    }
    const Status status = (*joined)->barrier();
    ended = true;
    PURLIN_RANK_CHECK(status.code() == PURLIN_TIMEOUT);
    PURLIN_RANK_CHECK(contains(status.message(), "rank 0 of 2 did not come to exchange 2 "));
    PURLIN_RANK_CHECK(!contains(status.message(), "network namespace"));
    return "";
  });
  for (const auto& text : said) CHECK(text == "");
}

TEST_CASE("a forked child may not use its parent's seat, does not harm it, and can have its own") {
  const auto address = fresh_address();
  const auto said = run_ranks(2, [&](int rank) -> std::string {
    auto joined = Rendezvous::join(options_for(address, rank, 2));
    PURLIN_RANK_OK(joined.status());
    if (rank == 0) {
      const pid_t child = ::fork();
      if (child == 0) {
        const Status status = (*joined)->barrier();
        if (status.code() != PURLIN_INVALID_USAGE) ::_exit(1);
        if (!contains(status.message(), "fork")) ::_exit(2);
        joined->reset();  // must not say goodbye in the parent's name
        auto own = Rendezvous::join(options_for(fresh_address(), 0, 1));
        ::_exit(own.is_ok() && (*own)->barrier() ? 0 : 3);
      }
      int status = -1;
      ::waitpid(child, &status, 0);
      PURLIN_RANK_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    PURLIN_RANK_OK((*joined)->barrier());
    PURLIN_RANK_CHECK((*joined)->liveness().state(0) == purlin::PeerState::kMember);
    PURLIN_RANK_OK((*joined)->barrier());  // so that rank 0 has not left yet
    return "";
  });
  for (const auto& text : said) CHECK(text == "");
}
