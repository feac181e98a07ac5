#include "api/handle.h"

#include <fmt/format.h>

#include "api/registration_handle.h"
#include "api/slot_table.h"

namespace purlin {
namespace {

using Table = SlotTable<purlin_comm_t, std::shared_ptr<Handle>>;

// Never destroyed: threads may still hold handles while the process ends.
Table& table() {
  static Table* const instance = new Table;
  return *instance;
}

}  // namespace

Handle::~Handle() {
  cancelled = true;
  if (creator.joinable()) creator.join();
  drop_registrations(*this);
}

purlin_comm_t publish(std::unique_ptr<Handle> handle) { return table().add(std::move(handle)); }

std::shared_ptr<Handle> find_handle(purlin_comm_t comm) {
  return table().find(comm).value_or(nullptr);
}

Result<std::shared_ptr<Handle>> ready_handle(purlin_comm_t comm) {
  std::shared_ptr<Handle> handle = find_handle(comm);
  if (!handle)
    return Status(
        PURLIN_INVALID_ARGUMENT,
        fmt::format("comm is {}, which is no communicator: it was never created, or it was "
                    "destroyed",
                    static_cast<const void*>(comm)));
  if (handle->pending.load(std::memory_order_acquire))
    return Status(PURLIN_IN_PROGRESS,
                  "the communicator is still being created; poll purlin_comm_async_error");
  if (!handle->communicator) return handle->creation;
  return handle;
}

std::shared_ptr<Handle> retire(purlin_comm_t comm) { return table().take(comm).value_or(nullptr); }

}  // namespace purlin
