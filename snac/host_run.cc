#include "snac/host_run.h"

#include <algorithm>

#include "snac/latency.h"
#include "snac/switch_path.h"
#include "snac/throughput.h"

namespace purlin::snac {
namespace {

// What an Atom calls back, for one of the protocols that move segments.
template <class Work>
struct Calls {
  static int segment(void* snac, std::uint64_t index, purlin_segment* out) {
    return static_cast<Work*>(snac)->segment(index, out) ? 1 : 0;
  }
  static int ready(void* snac, std::uint64_t index) {
    return static_cast<Work*>(snac)->ready(index) ? 0 : 1;
  }
  static void done(void* snac, std::uint64_t index) { static_cast<Work*>(snac)->done(index); }

  static constexpr purlin_snac_calls kTable = {sizeof(purlin_snac_calls), 0, segment, ready, done};
};

HostEnv environment(const HostCall& call) {
  return HostEnv(*call.form, *call.params, *call.atom, *call.constants, call.patience,
                 call.peer_left, call.epoch);
}

// All CTAs of a role for one round, in index order, each to its end.
template <class Work>
bool run_role(HostEnv& env, const HostCall& call, Role role, u32 round, u32* rounds) {
  const u32 ctas = call.params->ctas[static_cast<u32>(role)];
  const purlin_group group = {sizeof(purlin_group), 0, 1, 0, nullptr, 0};
  for (u32 cta = 0; cta < ctas; ++cta) {
    Work work(env, *call.params, call.epoch, role, cta, round, 1);
    if (work.rounds() <= round) continue;
    *rounds = std::max(*rounds, round + 1);
    if (call.atom->run(call.constants, &group, &Calls<Work>::kTable, &work) != 0) return false;
  }
  return true;
}

// Rounds outermost, then roles from low to high: a wait is then always for something that the peer
// does without waiting for us.
template <class Work>
bool run_roles(HostEnv& env, const HostCall& call) {
  const CallParams& p = *call.params;
  u32 rounds = 1;
  for (u32 round = 0; round < rounds; ++round) {
    for (Role role : {Role::kStage, Role::kReduce, Role::kGather}) {
      if (!has_role(*call.form, role)) continue;
      u32 reached = round;
      if (!run_role<Work>(env, call, role, round, &reached)) return false;
      if (reached > round) rounds = std::max(rounds, round + 2);
      if (round == 0 && role == Role::kStage && call.form->windows &&
          !hear_entries(env, p, call.epoch, 0, 1))
        return false;
    }
    if (round == 0 && !wait_headers(env, p, call.epoch, [](u32) { return true; })) return false;
  }
  return true;
}

}  // namespace

bool run_latency(const HostCall& call) {
  HostEnv env = environment(call);
  return Latency<HostEnv>(env, *call.params).run();
}

bool run_throughput(const HostCall& call) {
  HostEnv env = environment(call);
  const CallParams& p = *call.params;
  const Form& form = *call.form;
  send_headers(env, p, call.epoch);
  if (!form.windows) return run_roles<Throughput<HostEnv>>(env, call);
  send_entries(env, p, call.epoch);
  if (!run_roles<Throughput<HostEnv>>(env, call)) return false;
  for (u32 step = 0; step < form.steps; ++step) tell_exit(env, p, call.epoch, step, 0, 1, 0, 1);
  for (u32 step = 0; step < form.steps; ++step)
    if (!await_exits(env, p, call.epoch, step, 0, 1)) return false;
  return true;
}

bool run_switch(const HostCall& call) {
  HostEnv env = environment(call);
  send_headers(env, *call.params, call.epoch);
  return run_roles<SwitchPath<HostEnv>>(env, call);
}

}  // namespace purlin::snac
