// Handles that are numbers, not addresses: slot index plus one in the low half, generation in the
// high. A slot is reused with a new generation, so that an old handle is recognized.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <utility>
#include <vector>

namespace purlin {

// What each handle in use stands for. `Handle` is the pointer type that the application sees; null is
// none. Thread-safe.
template <class Handle, class Value>
class SlotTable {
 public:
  Handle add(Value value) {
    const std::unique_lock lock(mutex_);
    uint32_t index = 0;
    if (!free_.empty()) {
      index = free_.back();
      free_.pop_back();
    } else {
      index = static_cast<uint32_t>(slots_.size());
      slots_.emplace_back();
    }
    slots_[index].value = std::move(value);
    return reinterpret_cast<Handle>(uintptr_t{slots_[index].generation} << 32 |
                                    (uintptr_t{index} + 1));
  }

  // None if the handle is not in use: never given out, or taken since.
  std::optional<Value> find(Handle handle) const {
    const std::shared_lock lock(mutex_);
    const std::optional<uint32_t> index = index_of(handle);
    return index ? slots_[*index].value : std::nullopt;
  }

  // The same, and takes it out of use: of several calls one gets the value.
  std::optional<Value> take(Handle handle) {
    const std::unique_lock lock(mutex_);
    const std::optional<uint32_t> index = index_of(handle);
    return index ? release(*index) : std::nullopt;
  }

  // Takes those out of use whose value fits.
  template <class Fits>
  void drop_if(Fits fits) {
    const std::unique_lock lock(mutex_);
    for (uint32_t i = 0; i < slots_.size(); ++i)
      if (slots_[i].value && fits(*slots_[i].value)) release(i);
  }

 private:
  static_assert(sizeof(uintptr_t) == 8, "handles carry a slot and a generation");

  struct Slot {
    uint32_t generation = 1;
    std::optional<Value> value;
  };

  std::optional<uint32_t> index_of(Handle handle) const {
    const auto number = reinterpret_cast<uintptr_t>(handle);
    const uint64_t index = (number & 0xffff'ffffu) - 1;
    if (handle == nullptr || index >= slots_.size()) return std::nullopt;
    const Slot& slot = slots_[index];
    if (slot.generation != number >> 32 || !slot.value) return std::nullopt;
    return static_cast<uint32_t>(index);
  }

  std::optional<Value> release(uint32_t index) {
    Slot& slot = slots_[index];
    std::optional<Value> value = std::exchange(slot.value, std::nullopt);
    ++slot.generation;
    free_.push_back(index);
    return value;
  }

  mutable std::shared_mutex mutex_;
  std::deque<Slot> slots_;
  std::vector<uint32_t> free_;
};

}  // namespace purlin
