#include "program/background.h"

#include <utility>

namespace purlin {

BackgroundMaking::~BackgroundMaking() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

BackgroundMaking::Progress BackgroundMaking::want(ProgramRequest request) {
  auto state = std::make_shared<std::atomic<State>>(State::kPending);
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back({std::move(request), state});
    if (!thread_.joinable())
      thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
  }
  more_.notify_one();
  return state;
}

void BackgroundMaking::work(const std::stop_token& stop) {
  for (;;) {
    std::unique_lock lock(mutex_);
    if (!more_.wait(lock, stop, [&] { return !jobs_.empty(); }) || stop.stop_requested()) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    const ProgramOutcome outcome = store_.get(job.request);
    job.state->store(outcome.program ? State::kMade : State::kFailed, std::memory_order_release);
  }
}

}  // namespace purlin
