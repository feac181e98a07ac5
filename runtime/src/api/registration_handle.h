// purlin_registration_t handles: validated on every use, so that one that was deregistered, or whose
// communicator was destroyed, is an error.
#pragma once

#include "api/handle.h"

namespace purlin {

// A handle of the registration `number` of what `owner` stands for. Thread-safe.
purlin_registration_t publish_registration(const Handle& owner, uint32_t number);

// Takes the handle out of use: the number that it stood for. PURLIN_INVALID_ARGUMENT when it is in use
// no more or never was, or is another communicator's, and then stays in use.
Result<uint32_t> take_registration(const Handle& owner, purlin_registration_t handle);

// Takes those that are left of an owner that goes out of use.
void drop_registrations(const Handle& owner);

}  // namespace purlin
