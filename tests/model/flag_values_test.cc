// A flag word has one writer at a time, holds epoch and round, and is waited for with >=.
#include <doctest/doctest.h>

#include "explore.h"
#include "snac/epoch.h"

namespace purlin::model {
namespace {

// ---- Waiting with >=: two ranks, one word for each direction, call after call.

struct Announcements {
  static constexpr int kCalls = 6;
  explicit Announcements(bool equal) : wait_for_equal(equal) {}

  const bool wait_for_equal;
  Memory<> staged, flags;
  int wrong = 0;

  void start(Schedule& schedule) {
    schedule.add(rank(0));
    schedule.add(rank(1));
  }

  Task rank(int me) {
    for (uint64_t epoch = 1; epoch <= kCalls; ++epoch) {
      const auto half = snac::half_of(epoch);
      const auto value = static_cast<int64_t>(snac::flag_value(epoch, 0));
      staged(me, half) = value;
      co_await step();
      flags(1 - me) = value;
      co_await step();
      co_await until(
          [=, this] { return wait_for_equal ? flags(me) == value : flags(me) >= value; });
      co_await step();
      wrong += staged(1 - me, half) != value;
      co_await step();
    }
  }
};

TEST_CASE("waiting for a flag with >= never misses a fast peer") {
  CHECK(explore<Announcements>(false).all_right());
}

TEST_CASE("waiting for a flag with == misses a peer that has gone on") {
  CHECK(explore<Announcements>(true).deadlocked > 0);
}

// ---- Rounds: a stream of chunks through few slots; the word of a slot is used once a round.

struct Rounds {
  static constexpr int kChunks = 12, kSlots = 3;
  explicit Rounds(bool with_round) : with_round(with_round) {}

  const bool with_round;
  Memory<> slots, flags, acks;
  int wrong = 0;

  void start(Schedule& schedule) {
    schedule.add(writer());
    schedule.add(reader());
  }

  int64_t value(int chunk) const {
    return static_cast<int64_t>(
        snac::flag_value(1, with_round ? static_cast<uint64_t>(chunk / kSlots) : 0));
  }
  Task writer() {
    for (int c = 0; c < kChunks; ++c) {
      // Room: the chunk that was in this slot has been consumed.
      co_await until([=, this] { return c < kSlots || acks(0) > c - kSlots; });
      slots(c % kSlots) = c;
      co_await step();
      flags(c % kSlots) = value(c);
      co_await step();
    }
  }
  Task reader() {
    for (int c = 0; c < kChunks; ++c) {
      co_await until([=, this] { return flags(c % kSlots) >= value(c); });
      co_await step();
      wrong += slots(c % kSlots) != c;
      co_await step();
      acks(0) = c + 1;
      co_await step();
    }
  }
};

TEST_CASE("a slot's flag tells its rounds apart") { CHECK(explore<Rounds>(true).all_right()); }

TEST_CASE("a flag that holds the epoch alone announces a slot's later chunks before their time") {
  CHECK(explore<Rounds>(false).wrong > 0);
}

// ---- One writer a word: several CTAs write chunks c = b, b + ctas, ... and announce c in word c
// mod words.

struct Writers {
  static constexpr int kChunks = 48;
  Writers(int ctas, int words) : ctas(ctas), words(words) {}

  const int ctas, words;
  Memory<> data, flags;
  int wrong = 0;

  void start(Schedule& schedule) {
    for (int b = 0; b < ctas; ++b) schedule.add(cta(b));
    schedule.add(reader());
  }

  Task cta(int b) {
    for (int c = b; c < kChunks; c += ctas) {
      data(c) = 1;
      co_await step();
      flags(c % words) = c + 1;
      co_await step();
    }
  }
  Task reader() {
    for (int c = 0; c < kChunks; ++c) {
      co_await until([=, this] { return flags(c % words) >= c + 1; });
      co_await step();
      wrong += data(c) != 1;
    }
  }
};

TEST_CASE("a word that one CTA writes grows in order") {
  CHECK(explore<Writers>(4, 8).all_right());
  CHECK(explore<Writers>(6, 12).all_right());
}

TEST_CASE("a word shared by CTAs announces chunks before their time") {
  CHECK(explore<Writers>(3, 8).wrong > 0);
  CHECK(explore<Writers>(6, 8).wrong > 0);
}

}  // namespace
}  // namespace purlin::model
