#include "program/parallel.h"

#include <doctest/doctest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using namespace purlin;

TEST_CASE("every index is worked on once, whatever the number of threads") {
  for (const unsigned jobs : {0u, 1u, 3u, 64u}) {
    for (const size_t count : {size_t{0}, size_t{1}, size_t{2}, size_t{100}}) {
      std::vector<std::atomic<int>> seen(count);
      run_parallel(count, jobs, [&](size_t i) { seen[i]++; });
      for (const auto& times : seen) CHECK(times == 1);
    }
  }
}

TEST_CASE("no more threads than asked for take part") {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  run_parallel(200, 2, [&](size_t) {
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  CHECK(threads.size() <= 2);
  CHECK(usable_processors() >= 1);
}
