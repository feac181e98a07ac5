// What an Atom's pipeline owes: `done` may lag behind the stores, but a store side that would block
// first announces all it has stored; and `ready` never blocks the store side.
#include <doctest/doctest.h>

#include "explore.h"

namespace purlin::model {
namespace {

enum class Pipeline {
  kAnnouncesBeforeBlocking,  // two sides; done lags, but not across a wait
  kLags,                     // two sides; done always lags
  kOneThread                 // fetches ahead and stores in one thread: ready blocks the store side
};

// Two ranks stream chunks to each other through `slots` staging slots; acknowledgments give slots
// back.
struct Stream {
  static constexpr int kChunks = 20, kDepth = 8, kLag = 4;
  Stream(Pipeline pipeline, int slots) : pipeline(pipeline), slots(slots) {}

  const Pipeline pipeline;
  const int slots;
  Memory<> staged, announced, acknowledged, fetched, stored;
  int wrong = 0;

  void start(Schedule& schedule) {
    for (int r = 0; r < 2; ++r) {
      if (pipeline == Pipeline::kOneThread) {
        schedule.add(one_thread(r));
      } else {
        schedule.add(fetch_side(r));
        schedule.add(store_side(r));
      }
      schedule.add(consumer(r));
    }
  }

  // ready(i): slot i % slots has been given back.
  Until ready(int me, int i) {
    return until([=, this] { return i < slots || acknowledged(me) > i - slots; });
  }
  void announce(int me, int count) {
    if (count > announced(me)) announced(me) = count;
  }

  Task fetch_side(int me) {
    for (int i = 0; i < kChunks; ++i) {
      co_await until([=, this] { return fetched(me) - stored(me) < kDepth; });
      co_await ready(me, i);
      ++fetched(me);
      co_await step();
    }
  }
  Task store_side(int me) {
    for (int i = 0; i < kChunks; ++i) {
      if (pipeline == Pipeline::kAnnouncesBeforeBlocking && fetched(me) <= i) announce(me, i);
      co_await until([=, this] { return fetched(me) > i; });
      staged(me, i % slots) = i;
      co_await step();
      ++stored(me);
      announce(me, i + 1 - kLag);
      co_await step();
    }
    announce(me, kChunks);
  }
  Task one_thread(int me) {
    int next = 0;
    while (next < kChunks && next < kDepth) co_await ready(me, next++);
    for (int i = 0; i < kChunks; ++i) {
      staged(me, i % slots) = i;
      co_await step();
      announce(me, i + 1);
      co_await step();
      if (next < kChunks) co_await ready(me, next++);
    }
  }
  Task consumer(int me) {
    for (int i = 0; i < kChunks; ++i) {
      co_await until([=, this] { return announced(1 - me) > i; });
      co_await step();
      wrong += staged(1 - me, i % slots) != i;
      acknowledged(1 - me) = i + 1;
      co_await step();
    }
  }
};

TEST_CASE("a pipeline that announces before it blocks runs through any number of slots") {
  for (int slots : {1, 2, 4}) {
    CHECK(explore<Stream>(Pipeline::kAnnouncesBeforeBlocking, slots).all_right());
  }
}

TEST_CASE("done that lags across a wait dead-locks when slots are few") {
  const Tally tally = explore<Stream>(Pipeline::kLags, 4);
  CHECK(tally.deadlocked == tally.schedules);
}

TEST_CASE("a thread that both waits for room and stores dead-locks when slots are few") {
  const Tally tally = explore<Stream>(Pipeline::kOneThread, 4);
  CHECK(tally.deadlocked == tally.schedules);
  CHECK(explore<Stream>(Pipeline::kOneThread, 2 * Stream::kDepth).deadlocked == 0);
}

// ---- A segment of 0 bytes gets ready and done too: it holds its place in the count of chunks.

struct Counting {
  static constexpr int kChunks = 6;
  explicit Counting(bool announces_empty) : announces_empty(announces_empty) {}

  const bool announces_empty;
  int64_t announced = 0;
  int wrong = 0;

  static bool empty(int chunk) { return chunk % 3 == 1; }
  void start(Schedule& schedule) {
    schedule.add(producer());
    schedule.add(consumer());
  }
  Task producer() {
    for (int i = 0; i < kChunks; ++i) {
      if (!empty(i) || announces_empty) ++announced;
      co_await step();
    }
  }
  Task consumer() {
    for (int i = 0; i < kChunks; ++i) co_await until([=, this] { return announced > i; });
  }
};

TEST_CASE("empty segments are announced like all others") {
  CHECK(explore<Counting>(true).all_right());
}

TEST_CASE("an empty segment that is passed over is waited for in vain") {
  const Tally tally = explore<Counting>(false);
  CHECK(tally.deadlocked == tally.schedules);
}

}  // namespace
}  // namespace purlin::model
