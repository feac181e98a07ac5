// Tries a model under many random schedules and counts how they end.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "level.h"
#include "schedule.h"

namespace purlin::model {

// Memory of a model: words addressed by a few small numbers, zero until written.
template <class T = int64_t>
class Memory {
 public:
  template <class... I>
  T& operator()(I... index) {
    return words_[{static_cast<int64_t>(index)...}];
  }

 private:
  std::map<std::array<int64_t, 4>, T> words_;
};

struct Tally {
  int schedules = 0;
  int wrong = 0;       // schedules that gave a wrong value
  int deadlocked = 0;  // schedules that could not finish
  bool all_right() const { return wrong == 0 && deadlocked == 0; }
};

// Schedules a model is tried under: 400 at level quick, 4,000 at level full.
inline int schedule_count() { return test::is_full() ? 4000 : 400; }

// A Model is made anew from `args` for every schedule. It has `void start(Schedule&)`, which adds
// its tasks, and `int wrong`, the number of values that a task read and that were not the right
// ones.
template <class Model, class... Args>
Tally explore(const Args&... args) {
  Tally tally;
  for (; tally.schedules < schedule_count(); ++tally.schedules) {
    Model model(args...);
    Schedule schedule(test::seed() + 0x9e3779b97f4a7c15u * (tally.schedules + 1u));
    model.start(schedule);
    tally.deadlocked += schedule.run() == Ending::kDeadlock;
    tally.wrong += model.wrong != 0;
  }
  test::count_cases(static_cast<uint64_t>(tally.schedules));
  return tally;
}

}  // namespace purlin::model
