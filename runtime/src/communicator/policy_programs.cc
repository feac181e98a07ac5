#include "communicator/policy_programs.h"

#include <algorithm>
#include <set>

#include "communicator/cuda_grid.h"
#include "communicator/prepare.h"

namespace purlin {
namespace {

bool is_planned(int collective) {
  return collective != PURLIN_SEND_RECV && collective != PURLIN_CUSTOM;
}

class Listing {
 public:
  Listing(const policy::Policy& policy, const purlin_atom_limits& limits, int nranks,
          const purlin_atom_limits* switch_limits)
      : policy_(policy), limits_(limits), switch_limits_(switch_limits),
        nranks_(static_cast<uint32_t>(nranks)) {}

  void add(purlin_collective collective, const policy::Choice& choice) {
    if (choice.path.value == PURLIN_PATH_SWITCH) return add_switched(collective);
    const bool packets = choice.path.value == PURLIN_PATH_LATENCY;
    // An all_to_all_v uses both kernels, pair by pair.
    if (packets || collective == PURLIN_ALL_TO_ALL_V) add(ProtocolKernel::kLatency, collective, choice);
    if (!packets || collective == PURLIN_ALL_TO_ALL_V)
      add(ProtocolKernel::kThroughput, collective, choice);
  }
  // Messages: one program for all of them, with the Atom's own pipeline.
  void add_messages() {
    purlin_constants constants{};
    constants.nranks = nranks_;
    constants.op = uint32_t{PURLIN_SUM};
    set_pipeline(policy::Choice{}, limits_, &constants);
    needs_.insert(need_of(ProtocolKernel::kPairs, {}, constants, false).normalized());
  }
  std::vector<ProgramNeed> list() const { return {needs_.begin(), needs_.end()}; }

 private:
  void add(ProtocolKernel kernel, purlin_collective collective, const policy::Choice& choice) {
    const bool one_shot = collective == PURLIN_ALL_REDUCE && choice.one_shot.value &&
                          kernel == ProtocolKernel::kLatency;
    const snac::Transformation t =
        snac::transformation_of(static_cast<snac::Collective>(collective), one_shot);
    const snac::Direction direction = direction_of(choice);
    const snac::Geometry geometry =
        snac::set_geometry(t, nranks_, policy_.staging.throughput_bytes.value, choice.chunk.value,
                           direction, direction);
    purlin_constants constants{};
    constants.nranks = nranks_;
    constants.op = uint32_t{PURLIN_SUM};
    set_pipeline(choice, limits_, &constants);
    add_wanted(kernel, snac::form_of(t, nranks_, geometry), constants, nullptr);
  }
  void add_switched(purlin_collective collective) {
    purlin_constants constants{};
    constants.nranks = nranks_;
    constants.op = uint32_t{PURLIN_SUM};
    set_pipeline({}, *switch_limits_, &constants);
    const auto t = snac::transformation_of(static_cast<snac::Collective>(collective));
    add_wanted(ProtocolKernel::kSwitch, snac::switch_form_of(t, nranks_), constants, switch_limits_);
  }
  // For each of the policy's types and operations; with `only`, those that its Atom reduces.
  void add_wanted(ProtocolKernel kernel, const snac::Form& form, purlin_constants constants,
                  const purlin_atom_limits* only) {
    for (const policy::ProgramRequest& wanted : policy_.programs) {
      if (form.reduces != (wanted.kind != policy::ProgramKind::kCopy)) continue;
      if (wanted.ranks && !wanted.ranks->contains(static_cast<int>(nranks_))) continue;
      if (form.reduces && only != nullptr && (only->op_mask[wanted.dtype] >> wanted.op & 1u) == 0)
        continue;
      const bool scaled = form.reduces && wanted.op == PURLIN_PREMUL_SUM;
      constants.dtype = static_cast<uint32_t>(wanted.dtype);
      constants.op = scaled ? uint32_t{PURLIN_SUM} : static_cast<uint32_t>(wanted.op);
      const ProgramNeed need = need_of(kernel, form, constants, scaled);
      const bool universal = wanted.kind == policy::ProgramKind::kUniversal;
      if (universal && !need.may_be_universal()) continue;
      needs_.insert((universal ? need.universal() : need).normalized());
    }
  }

  const policy::Policy& policy_;
  const purlin_atom_limits& limits_;
  const purlin_atom_limits* switch_limits_;
  uint32_t nranks_;
  std::set<ProgramNeed> needs_;
};

}  // namespace

std::vector<ProgramNeed> programs_of(const policy::Policy& policy,
                                     const policy::ChoiceTable& choices,
                                     const purlin_atom_limits& limits, int nranks,
                                     const purlin_atom_limits* switch_limits) {
  Listing listing(policy, limits, nranks, switch_limits);
  const auto add_all = [&](const policy::ChoiceTable& table) {
    for (int c = 0; c < PURLIN_COLLECTIVE_COUNT; ++c) {
      if (!is_planned(c)) continue;
      const auto collective = static_cast<purlin_collective>(c);
      for (const auto& entry : table.entries(collective))
        if (entry.choice) listing.add(collective, *entry.choice);
    }
  };
  add_all(choices);
  if (switch_limits != nullptr)
    add_all(policy::ChoiceTable(
        policy, nranks, std::vector<std::string>(PURLIN_COLLECTIVE_COUNT, "it cannot do that")));
  if (std::any_of(policy.programs.begin(), policy.programs.end(),
                  [](const auto& one) { return one.kind == policy::ProgramKind::kCopy; }))
    listing.add_messages();
  return listing.list();
}

std::vector<ProgramNeed> window_programs_of(std::vector<ProgramNeed> programs) {
  std::erase_if(programs, [](const ProgramNeed& need) {
    return need.kernel != ProtocolKernel::kThroughput;
  });
  for (ProgramNeed& need : programs) need.constants.form.windows = true;
  return programs;
}

unsigned most_ctas(const policy::ChoiceTable& choices) {
  unsigned most = 1;
  for (int c = 0; c < PURLIN_COLLECTIVE_COUNT; ++c) {
    for (const auto& entry : choices.entries(static_cast<purlin_collective>(c))) {
      if (!entry.choice) continue;
      const policy::Choice& choice = *entry.choice;
      most = std::max(most, choice.stage_ctas.value + choice.reduce_ctas.value +
                                choice.gather_ctas.value);
    }
  }
  return most;
}

}  // namespace purlin
