#include "api/slot_table.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

namespace {

struct Thing;
using Table = purlin::SlotTable<Thing*, int>;

}  // namespace

TEST_CASE("a handle stands for its value until it is taken, and never again") {
  Table table;
  Thing* const first = table.add(1);
  Thing* const second = table.add(2);
  CHECK(first != nullptr);
  CHECK(table.find(first) == 1);
  CHECK(table.find(second) == 2);
  CHECK(table.take(first) == 1);
  CHECK_FALSE(table.find(first).has_value());
  CHECK_FALSE(table.take(first).has_value());
  for (int i = 3; i < 100; ++i) {  // all in the first one's slot
    Thing* const next = table.add(i);
    CHECK(next != first);
    CHECK_FALSE(table.find(first).has_value());
    CHECK(table.take(next) == i);
  }
  CHECK(table.find(second) == 2);
}

TEST_CASE("null, addresses and numbers that were never given out are no handles") {
  Table table;
  static_cast<void>(table.add(1));
  int local = 0;
  for (uintptr_t number : {uintptr_t{0}, reinterpret_cast<uintptr_t>(&local), ~uintptr_t{0},
                           uintptr_t{1}, uintptr_t{1} << 32, uintptr_t{1} << 32 | 2}) {
    CHECK_FALSE(table.find(reinterpret_cast<Thing*>(number)).has_value());
    CHECK_FALSE(table.take(reinterpret_cast<Thing*>(number)).has_value());
  }
}

TEST_CASE("values that fit are dropped, the others stay") {
  Table table;
  Thing* handles[10];
  for (int i = 0; i < 10; ++i) handles[i] = table.add(i);
  table.drop_if([](int value) { return value % 3 == 0; });
  for (int i = 0; i < 10; ++i) CHECK(table.find(handles[i]).has_value() == (i % 3 != 0));
}

TEST_CASE("of several threads that take a handle one gets its value") {
  Table table;
  for (int round = 0; round < 200; ++round) {
    Thing* const handle = table.add(round);
    std::atomic<int> got{0}, ready{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&] {
        ++ready;
        while (ready < 3) std::this_thread::yield();
        if (table.take(handle) == round) ++got;
      });
    for (std::thread& thread : threads) thread.join();
    REQUIRE(got == 1);
  }
}
