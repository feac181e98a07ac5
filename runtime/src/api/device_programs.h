// All programs of a policy on a device that need not be there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "program/request.h"
#include "status/status.h"

namespace purlin {

struct DeviceProgramsQuery {
  std::string device;                 // "sm_90"
  std::optional<std::string> policy;  // a file; absent: searched for the device
  int nranks = 0;                     // 2 … kDeviceRanks; 0: every number from 2 to 8
};

struct DevicePrograms {
  std::vector<ProgramRequest> requests;  // no two are the same program
  std::string policy;                    // its name
  std::string atom;                      // the Atom that the device would be bound to
};

// What communicators on that device make when they are created. Errors: PURLIN_INVALID_ARGUMENT for a
// device that is none or the host and for a number of ranks that device code does not serve;
// PURLIN_POLICY_ERROR for the policy, PURLIN_PLUGIN_ERROR without an Atom, PURLIN_LINK_ERROR where the
// Atom or this build has no device code for it.
Result<DevicePrograms> device_programs(const DeviceProgramsQuery& query);

}  // namespace purlin
