#include "api/registration_handle.h"

#include <fmt/format.h>

#include "api/slot_table.h"

namespace purlin {
namespace {

struct Registration {
  const Handle* owner;  // lives: its registrations go before it does
  uint32_t number;
};

using Table = SlotTable<purlin_registration_t, Registration>;

// Never destroyed: threads may still hold handles while the process ends.
Table& table() {
  static Table* const instance = new Table;
  return *instance;
}

}  // namespace

purlin_registration_t publish_registration(const Handle& owner, uint32_t number) {
  return table().add({&owner, number});
}

Result<uint32_t> take_registration(const Handle& owner, purlin_registration_t handle) {
  const std::optional<Registration> there = table().find(handle);
  if (there && there->owner != &owner)
    return Status(PURLIN_INVALID_ARGUMENT,
                  "this registration belongs to another communicator; deregister it there");
  if (there && table().take(handle)) return there->number;
  return Status(PURLIN_INVALID_ARGUMENT,
                fmt::format("handle is {}, which is no registration: it was never made, it was "
                            "deregistered already, or its communicator was destroyed",
                            static_cast<const void*>(handle)));
}

void drop_registrations(const Handle& owner) {
  table().drop_if([&owner](const Registration& one) { return one.owner == &owner; });
}

}  // namespace purlin
