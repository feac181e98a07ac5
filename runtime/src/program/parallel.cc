#include "program/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace purlin {

unsigned usable_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
  return std::max(1u, std::thread::hardware_concurrency());  // more processors than the set holds
}

void run_parallel(size_t count, unsigned jobs, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  const auto drain = [&] {
    for (size_t i; (i = next.fetch_add(1)) < count;) work(i);
  };
  const size_t threads = std::min<size_t>(count, jobs != 0 ? jobs : usable_processors());
  std::vector<std::thread> helpers;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (size_t i = 1; i < threads; ++i) helpers.emplace_back(drain);
  } catch (const std::system_error&) {
    // No more threads to be had: those there are, this one included, do all of the work.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  drain();
  for (auto& helper : helpers) helper.join();
}

}  // namespace purlin
