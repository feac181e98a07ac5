#include "communicator/switch_side.h"

#include <fmt/format.h>

#include <utility>

#include "policy/overrides.h"
#include "policy/switch_form.h"
#include "policy/words.h"

namespace purlin {
namespace {

// The whole trace of a search would fill the line: its first one says what matters.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string refusal_for(const policy::Policy& policy, const plugin::Catalogue& catalogue, int nranks,
                        plugin::BoundAtom* atom) {
  if (const auto off = policy::nvls_off_switch(policy::process_environment()))
    return fmt::format("{} turns it off, whatever the policy says", *off);
  if (nranks < 2) return "one rank alone has nothing for a switch to add";
  if (!asks_for_switch(policy, nranks))
    return "neither the policy nor PURLIN_REDUCTION asks for NVLS anywhere, so communicators are made "
           "without it; name nvls in a row of `reduction`";
  plugin::Need need;
  need.capabilities |= PURLIN_CAP_SWITCH_REDUCE | PURLIN_CAP_SWITCH_STORE;
  auto bound = plugin::choose(catalogue, need);
  if (bound) {
    *atom = *std::move(bound);
    return {};
  }
  // An Atom that has what it takes and may not serve is the reason; else there is none.
  for (const plugin::Candidate& candidate : catalogue.candidates) {
    const purlin_atom_descriptor& has = *candidate.plugin->descriptor;
    if (has.kind != catalogue.facts.kind ||
        (has.capabilities & need.capabilities) != need.capabilities)
      continue;
    if (!candidate.fit.accepted)
      return fmt::format("Atom {} cannot serve: {}", has.name, candidate.fit.reason);
    return fmt::format("Atom {} may not serve: the policy's datapath names others, without \"auto\"",
                       has.name);
  }
  return fmt::format("no Atom with a switch path is there for device {}", catalogue.device_name);
}

}  // namespace

std::string SwitchSide::refusal_of(purlin_collective collective, int dtype, int op) const {
  if (!refusal.empty()) return refusal;
  if ((policy::set_of(collective) & policy::kReducingCollectives) == 0) return {};
  if ((atom.descriptor->limits->op_mask[dtype] >> op & 1u) != 0) return {};
  return fmt::format("Atom {} does not reduce {} with {} in the switch", atom.descriptor->name,
                     policy::word(static_cast<purlin_dtype>(dtype)),
                     policy::word(static_cast<purlin_op>(op)));
}

std::vector<std::string> SwitchSide::for_table() const {
  return std::vector<std::string>(PURLIN_COLLECTIVE_COUNT, refusal);
}

void SwitchSide::refuse(std::string why) {
  atom = {};
  refusal = std::move(why);
}

bool asks_for_switch(const policy::Policy& policy, int nranks) {
  const policy::ChoiceTable wished(policy, nranks,
                                   std::vector<std::string>(PURLIN_COLLECTIVE_COUNT));
  for (unsigned c = 0; c < PURLIN_COLLECTIVE_COUNT; ++c)
    for (const auto& entry : wished.entries(static_cast<purlin_collective>(c)))
      if (entry.choice && entry.choice->path.value == PURLIN_PATH_SWITCH) return true;
  return false;
}

SwitchSide find_switch(const policy::Policy& policy, const plugin::Catalogue& catalogue, int nranks) {
  SwitchSide side;
  side.refusal = refusal_for(policy, catalogue, nranks, &side.atom);
  return side;
}

std::string fallback_line(const policy::ChoiceTable& choices, const std::string& communicator) {
  for (unsigned c = 0; c < PURLIN_COLLECTIVE_COUNT; ++c) {
    const auto collective = static_cast<purlin_collective>(c);
    if ((policy::set_of(collective) & policy::kSwitchCollectives) == 0) continue;
    for (const auto& entry : choices.entries(collective))
      if (entry.choice && !entry.choice->notes.empty())
        return fmt::format("purlin: communicator {}: {}\n", communicator,
                           first_line(entry.choice->notes.front()));
  }
  return {};
}

}  // namespace purlin
