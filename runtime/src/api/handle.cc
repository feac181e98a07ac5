#include "api/handle.h"

#include <deque>
#include <shared_mutex>
#include <vector>

#include <fmt/format.h>

namespace purlin {
namespace {

// Handles are numbers, not addresses: slot index plus one in the low half, generation in the high.
// A slot is reused with a new generation, so that an old handle is recognized.
struct Slot {
  uint32_t generation = 1;
  std::shared_ptr<Handle> handle;
};

struct Table {
  std::shared_mutex mutex;
  std::deque<Slot> slots;
  std::vector<uint32_t> free;
};

// Never destroyed: threads may still hold handles while the process ends.
Table& table() {
  static Table* const instance = new Table;
  return *instance;
}

purlin_comm_t encode_handle(uint32_t index, uint32_t generation) {
  return reinterpret_cast<purlin_comm_t>(uintptr_t{generation} << 32 | (uintptr_t{index} + 1));
}

// The slot of a well-formed handle of the right generation, or null. The table is locked.
Slot* slot_of(Table& t, purlin_comm_t comm) {
  const auto value = reinterpret_cast<uintptr_t>(comm);
  const uint64_t index = (value & 0xffff'ffffu) - 1;
  if (comm == nullptr || index >= t.slots.size()) return nullptr;
  Slot& slot = t.slots[index];
  return slot.generation == value >> 32 && slot.handle ? &slot : nullptr;
}

}  // namespace

static_assert(sizeof(uintptr_t) == 8, "handles carry a slot and a generation");

Handle::~Handle() {
  cancelled = true;
  if (creator.joinable()) creator.join();
}

purlin_comm_t publish(std::unique_ptr<Handle> handle) {
  Table& t = table();
  const std::unique_lock lock(t.mutex);
  uint32_t index = 0;
  if (!t.free.empty()) {
    index = t.free.back();
    t.free.pop_back();
  } else {
    index = static_cast<uint32_t>(t.slots.size());
    t.slots.emplace_back();
  }
  t.slots[index].handle = std::move(handle);
  return encode_handle(index, t.slots[index].generation);
}

std::shared_ptr<Handle> find_handle(purlin_comm_t comm) {
  Table& t = table();
  const std::shared_lock lock(t.mutex);
  Slot* slot = slot_of(t, comm);
  return slot != nullptr ? slot->handle : nullptr;
}

Result<std::shared_ptr<Handle>> ready_handle(purlin_comm_t comm) {
  std::shared_ptr<Handle> handle = find_handle(comm);
  if (!handle)
    return Status(PURLIN_INVALID_ARGUMENT,
                  fmt::format("comm is {}, which is no communicator: it was never created, or it was "
                              "destroyed", static_cast<const void*>(comm)));
  if (handle->pending.load(std::memory_order_acquire))
    return Status(PURLIN_IN_PROGRESS,
                  "the communicator is still being created; poll purlin_comm_async_error");
  if (!handle->communicator) return handle->creation;
  return handle;
}

std::shared_ptr<Handle> retire(purlin_comm_t comm) {
  Table& t = table();
  const std::unique_lock lock(t.mutex);
  Slot* slot = slot_of(t, comm);
  if (slot == nullptr) return nullptr;
  std::shared_ptr<Handle> handle = std::move(slot->handle);
  slot->handle.reset();
  ++slot->generation;
  t.free.push_back(static_cast<uint32_t>((reinterpret_cast<uintptr_t>(comm) & 0xffff'ffffu) - 1));
  return handle;
}

}  // namespace purlin
