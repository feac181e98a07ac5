// Programs made while calls go on without them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "program/store.h"

namespace purlin {

// Makes programs one after another, on a thread that starts with the first. Thread-safe.
class BackgroundMaking {
 public:
  enum class State { kPending, kMade, kFailed };
  // Of one request; readable from any thread. kMade: the store has the program in memory.
  using Progress = std::shared_ptr<const std::atomic<State>>;

  // `store` outlives this object.
  explicit BackgroundMaking(ProgramStore& store) : store_(store) {}
  // Waits for the program that is being made; those not begun stay pending for ever.
  ~BackgroundMaking();
  BackgroundMaking(const BackgroundMaking&) = delete;
  BackgroundMaking& operator=(const BackgroundMaking&) = delete;

  Progress want(ProgramRequest request);

 private:
  struct Job {
    ProgramRequest request;
    std::shared_ptr<std::atomic<State>> state;
  };
  void work(const std::stop_token& stop);

  ProgramStore& store_;
  std::mutex mutex_;
  std::condition_variable_any more_;
  std::deque<Job> jobs_;
  std::jthread thread_;  // last: it uses what stands above
};

}  // namespace purlin
