#include "api/device_programs.h"

#include <fmt/format.h>

#include <set>

#include "communicator/policy_programs.h"
#include "communicator/switch_side.h"
#include "plugin/choice.h"
#include "plugin/fit.h"
#include "plugin/from_policy.h"
#include "policy/capacity.h"
#include "policy/match.h"
#include "policy/search.h"

namespace purlin {
namespace {

constexpr int kFewestRanks = 2, kUsualRanks = 8;

Status check_query(const DeviceProgramsQuery& query, const purlin_device_facts& facts) {
  if (policy::kind_of(facts) != PURLIN_DEVICE_CUDA)
    return Status(
        PURLIN_INVALID_ARGUMENT,
        fmt::format("programs for device '{}' were asked for; host ranks need none, name an "
                    "architecture like sm_90",
                    query.device));
  if (query.nranks != 0 &&
      (query.nranks < kFewestRanks || query.nranks > static_cast<int>(kDeviceRanks)))
    return Status(PURLIN_INVALID_ARGUMENT,
                  fmt::format("programs for {} ranks were asked for; device code serves {} to {} "
                              "ranks, and 0 means every number from {} to {}",
                              query.nranks, kFewestRanks, kDeviceRanks, kFewestRanks, kUsualRanks));
  return {};
}

Result<plugin::BoundAtom> bind(const policy::Policy& policy, const plugin::Catalogue& catalogue,
                               int most_ranks) {
  auto atom = plugin::choose(catalogue, plugin::every_collective(most_ranks));
  if (!atom) return atom.status();
  policy::Bound bound;
  bound.limits = atom->descriptor->limits;
  bound.atom = atom->descriptor->name;
  bound.cuda = true;
  PURLIN_RETURN_IF_ERROR(policy::check_against(policy, bound, most_ranks));
  return atom;
}

}  // namespace

Result<DevicePrograms> device_programs(const DeviceProgramsQuery& query) {
  const auto facts = policy::device_facts_of(query.device);
  if (!facts) return facts.status();
  PURLIN_RETURN_IF_ERROR(check_query(query, *facts));
  policy::Request request;
  request.path = query.policy;
  const auto found = policy::find_policy(*facts, request);
  if (!found) return found.status();
  const int fewest = query.nranks != 0 ? query.nranks : kFewestRanks;
  const int most = query.nranks != 0 ? query.nranks : kUsualRanks;
  const auto catalogue = plugin::discover(plugin::selection_from(found->policy), *facts);
  const auto atom = bind(found->policy, catalogue, most);
  if (!atom) return atom.status();
  const auto images = plugin::images_of(*atom->descriptor);
  if (!images) return images.status();

  DevicePrograms out{{}, found->policy.name, atom->descriptor->name};
  std::set<Digest> seen;
  for (int n = fewest; n <= most; ++n) {
    const SwitchSide switched = find_switch(found->policy, catalogue, n);
    const policy::ChoiceTable choices(found->policy, n, switched.for_table());
    std::vector<DeviceImage> switch_images;
    if (switched.serves()) {
      auto own = plugin::images_of(*switched.atom.descriptor);
      if (!own) return own.status();
      switch_images = *std::move(own);
    }
    for (const ProgramNeed& need :
         programs_of(found->policy, choices, *atom->descriptor->limits, n,
                     switched.serves() ? switched.atom.descriptor->limits : nullptr)) {
      auto made = protocol_request(
          need.kernel, need.constants, facts->cc_major * 10 + facts->cc_minor,
          need.kernel == ProtocolKernel::kSwitch ? switch_images : *images);
      if (!made) return made.status();
      if (seen.insert(program_digest(*made)).second) out.requests.push_back(*std::move(made));
    }
  }
  return out;
}

}  // namespace purlin
