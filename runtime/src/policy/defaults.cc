// The built-in defaults: the table of docs/policy.md in code. Sizes for GPUs are provisional.
#include "policy/limits.h"
#include "policy/policy.h"

namespace purlin::policy {
namespace {

template <class T>
Setting<T> standard(T value) {
  return {value, {}};
}

Table<uint64_t>::Row one_shot_row(int first, int last, uint64_t limit) {
  Scope scope;
  scope.ranks = {first, last};
  return {scope, standard(limit)};
}

}  // namespace

Policy built_in_policy(purlin_device_kind kind) {
  const bool host = kind == PURLIN_DEVICE_HOST;
  Policy policy;
  policy.name = "built-in defaults";
  policy.plugins.enable = {standard<std::string>("*")};
  policy.datapath.prefer = {standard<std::string>("auto")};
  policy.reduction.otherwise = standard(PURLIN_REDUCTION_SCORE);
  policy.crossover.otherwise = standard(host ? kKiB : 512 * kKiB);
  // One-shot sends n-1 times the buffer, two-shot about twice, whatever n.
  policy.one_shot_limit.otherwise = standard(4 * kKiB);
  policy.one_shot_limit.rows = {one_shot_row(1, 2, 256 * kKiB), one_shot_row(3, 4, 64 * kKiB),
                                one_shot_row(5, 8, 16 * kKiB)};

  Tuning& tuning = policy.tuning;
  tuning.path = standard(PURLIN_PATH_AUTO);
  tuning.chunk = standard(host ? 64 * kKiB : 128 * kKiB);
  tuning.stage_ctas = tuning.gather_ctas = standard(host ? 1u : 16u);
  tuning.reduce_ctas = standard(host ? 1u : 24u);
  tuning.stages = tuning.stage_bytes = tuning.threads = standard(0u);
  tuning.zero_copy = standard(true);

  policy.staging.latency_bytes = standard(host ? 512 * kKiB : 4 * kMiB);
  policy.staging.throughput_bytes = standard(host ? 4 * kMiB : 32 * kMiB);
  // On a GPU a CTA serves a slot.
  policy.staging.pair_slots = standard(host ? 2u : 4u);
  policy.staging.pair_bytes = standard(host ? 256 * kKiB : kMiB);

  policy.cta_budget = standard(0u);
  policy.packets = standard(PacketForm::kAuto);
  policy.checking = standard(true);
  policy.wait_timeout = standard(std::chrono::milliseconds(std::chrono::minutes(10)));
  policy.create_timeout = standard(std::chrono::milliseconds(std::chrono::minutes(10)));

  for (const ProgramKind kind : {ProgramKind::kCopy, ProgramKind::kUniversal})
    policy.programs.push_back({kind, PURLIN_U8, PURLIN_SUM, std::nullopt, {}});
  for (const purlin_dtype dtype : {PURLIN_BF16, PURLIN_F16, PURLIN_F32})
    policy.programs.push_back({ProgramKind::kReduce, dtype, PURLIN_SUM, std::nullopt, {}});

  policy.host_wait.spins = standard(4000u);
  policy.host_wait.yields = standard(2000u);
  return policy;
}

}  // namespace purlin::policy
