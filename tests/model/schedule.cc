#include "schedule.h"

#include <array>

namespace purlin::model {

void Schedule::add(Task task) {
  constexpr std::array<int, 5> kWeights{1, 1, 1, 20, 200};
  live_.push_back({std::move(task), kWeights[random_() % kWeights.size()]});
}

Ending Schedule::run() {
  std::vector<size_t> ready;
  while (!live_.empty()) {
    ready.clear();
    uint64_t total = 0;
    for (size_t i = 0; i < live_.size(); ++i) {
      if (!live_[i].task.may_go_on()) continue;
      ready.push_back(i);
      total += static_cast<uint64_t>(live_[i].weight);
    }
    if (ready.empty()) return Ending::kDeadlock;
    uint64_t draw = random_() % total;
    size_t chosen = 0;
    while (draw >= static_cast<uint64_t>(live_[ready[chosen]].weight)) {
      draw -= static_cast<uint64_t>(live_[ready[chosen]].weight);
      ++chosen;
    }
    const size_t index = ready[chosen];
    live_[index].task.go_on();
    if (live_[index].task.finished()) live_.erase(live_.begin() + static_cast<ptrdiff_t>(index));
  }
  return Ending::kFinished;
}

}  // namespace purlin::model
