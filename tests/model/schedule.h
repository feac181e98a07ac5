// Tasks that take turns in random order: the smallest stage on which a protocol can be tried.
//
// A model writes each rank, CTA or thread as a coroutine. Between two co_awaits it runs
// undisturbed; what other tasks may see in between is separated by co_await step(). A wait is
// co_await until(...). One step is one access to memory that others see, so every interleaving of
// accesses can happen.
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <functional>
#include <random>
#include <utility>
#include <vector>

namespace purlin::model {

using Condition = std::function<bool()>;

// One coroutine of a model. Move-only; the frame ends with it.
class Task {
 public:
  struct promise_type {
    Condition condition;  // empty: may go on at any time

    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  using Handle = std::coroutine_handle<promise_type>;

  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool finished() const { return handle_.done(); }
  bool may_go_on() const {
    const Condition& condition = handle_.promise().condition;
    return !condition || condition();
  }
  void go_on() {
    handle_.promise().condition = nullptr;
    handle_.resume();
  }

 private:
  Handle handle_;
};

// Lets others run between two accesses.
inline std::suspend_always step() { return {}; }

// Waits until `condition`, a function of the model's memory, holds when the task's turn comes.
struct Until {
  Condition condition;
  bool await_ready() const { return false; }
  void await_suspend(Task::Handle task) { task.promise().condition = std::move(condition); }
  void await_resume() const {}
};
inline Until until(Condition condition) { return Until{std::move(condition)}; }

enum class Ending {
  kFinished,
  kDeadlock,  // every unfinished task waits for something that no task will do
};

// Runs tasks to the end, or until none can go on. Deterministic for a seed. Some tasks are drawn
// far more often than others, so that one may run ahead of, or far behind, the rest.
class Schedule {
 public:
  explicit Schedule(uint64_t seed) : random_(seed) {}
  void add(Task task);
  // A random number of this schedule's, for a model's own choices.
  uint64_t draw() { return random_(); }
  Ending run();

 private:
  struct Entry {
    Task task;
    int weight;
  };
  std::mt19937_64 random_;
  std::vector<Entry> live_;
};

}  // namespace purlin::model
