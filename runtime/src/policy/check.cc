#include "policy/check.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/capacity.h"
#include "policy/effective.h"
#include "policy/quantity.h"
#include "policy/words.h"

namespace purlin::policy {
namespace {

Status refuse(const Origin& origin, const std::string& what) {
  return Status(PURLIN_POLICY_ERROR, fmt::format("{}: {}", origin.text(), what));
}

bool is_written(const Origin& origin) { return origin.source != Source::kBuiltIn; }

Status check_crossover(const Policy& policy, const Setting<uint64_t>& crossover,
                       purlin_collective collective, int nranks) {
  const uint64_t capacity = packet_capacity(policy, collective, nranks, false);
  if (!is_written(crossover.origin) || crossover.value <= capacity) return Status::ok();
  const bool pair = collective == PURLIN_SEND_RECV;
  const char* staging = pair ? "staging.pair_bytes" : "staging.latency_bytes";
  const Setting<uint64_t>& limit = pair ? policy.staging.pair_bytes : policy.staging.latency_bytes;
  return refuse(
      crossover.origin,
      fmt::format("crossover {} of {} does not fit: at {} ranks the packets of {} {} ({}) "
                  "carry at most {}; lower the crossover or raise {}",
                  format_size(crossover.value), word(collective), nranks, staging,
                  format_size(limit.value), limit.origin.text(), format_size(capacity), staging));
}

Status check_one_shot(const Policy& policy, const Setting<uint64_t>& limit, int nranks) {
  const uint64_t used =
      std::min(limit.value, effective_crossover(policy, PURLIN_ALL_REDUCE, nranks).value);
  const uint64_t capacity = packet_capacity(policy, PURLIN_ALL_REDUCE, nranks, true);
  if (!is_written(limit.origin) || used <= capacity) return Status::ok();
  return refuse(
      limit.origin,
      fmt::format("one_shot_limit {} does not fit: at {} ranks the packets of "
                  "staging.latency_bytes {} ({}) carry at most {} in one shot; lower it, "
                  "lower the crossover, or raise staging.latency_bytes",
                  format_size(limit.value), nranks, format_size(policy.staging.latency_bytes.value),
                  policy.staging.latency_bytes.origin.text(), format_size(capacity)));
}

Status check_chunk(const Policy& policy, const std::optional<Setting<uint64_t>>& chunk,
                   int nranks) {
  if (!chunk || !is_written(chunk->origin) || chunk->value <= largest_chunk(policy, nranks))
    return Status::ok();
  return refuse(chunk->origin,
                fmt::format("chunk {} does not fit: at {} ranks staging.throughput_bytes {} ({}) "
                            "holds chunks of at most {}; lower the chunk or raise "
                            "staging.throughput_bytes",
                            format_size(chunk->value), nranks,
                            format_size(policy.staging.throughput_bytes.value),
                            policy.staging.throughput_bytes.origin.text(),
                            format_size(largest_chunk(policy, nranks))));
}

// A row may state some roles and leave others to the default.
Status check_ctas(const Policy& policy, const Tuning& tuning) {
  const auto part = [](const auto& mine, const auto& otherwise) {
    return mine ? *mine : *otherwise;
  };
  const Setting<uint32_t> parts[] = {part(tuning.stage_ctas, policy.tuning.stage_ctas),
                                     part(tuning.reduce_ctas, policy.tuning.reduce_ctas),
                                     part(tuning.gather_ctas, policy.tuning.gather_ctas)};
  const uint64_t total = uint64_t{parts[0].value} + parts[1].value + parts[2].value;
  if (total <= kMaxCtas) return Status::ok();
  const auto* largest =
      std::max_element(std::begin(parts), std::end(parts), [](const auto& a, const auto& b) {
        return std::pair(is_written(a.origin), a.value) < std::pair(is_written(b.origin), b.value);
      });
  return refuse(largest->origin,
                fmt::format("the roles take {} + {} + {} = {} CTAs, at most {} "
                            "have flags; lower them",
                            parts[0].value, parts[1].value, parts[2].value, total, kMaxCtas));
}

// A row that forces the latency path must hold only sizes that packets can carry.
Status check_forced_latency(const Policy& policy, const TuningRow& row, int nranks) {
  if (!row.tuning.path || row.tuning.path->value != PURLIN_PATH_LATENCY) return Status::ok();
  for (unsigned c = 0; c < PURLIN_COLLECTIVE_COUNT; ++c) {
    const auto collective = static_cast<purlin_collective>(c);
    const uint64_t capacity = packet_capacity(policy, collective, nranks, false);
    if ((row.scope.collectives & set_of(collective)) == 0 || row.scope.bytes.up_to <= capacity)
      continue;
    return refuse(
        row.tuning.path->origin,
        fmt::format(
            "path latency for sizes {} of {} does not fit: at {} ranks packets "
            "carry at most {}; end the row's bytes there, or raise {}",
            format(row.scope.bytes), word(collective), nranks, format_size(capacity),
            collective == PURLIN_SEND_RECV ? "staging.pair_bytes" : "staging.latency_bytes"));
  }
  return Status::ok();
}

// The members of a row or of the default that depend on the Atom and device.
Status check_pipeline(const Policy& policy, const Tuning& tuning, const Bound& bound, int nranks) {
  if (bound.limits == nullptr) return Status::ok();
  const purlin_atom_limits& limits = *bound.limits;
  const std::string atom = bound.atom.empty() ? "the Atom" : fmt::format("Atom {}", bound.atom);
  const auto within = [&](const char* name, const std::optional<Setting<uint32_t>>& setting,
                          uint32_t least, uint32_t most) {
    if (!setting || setting->value == 0 || (setting->value >= least && setting->value <= most))
      return Status::ok();
    return refuse(setting->origin,
                  fmt::format("{} {} is outside {}..{}, which {} declares; write one within", name,
                              setting->value, least, most, atom));
  };
  PURLIN_RETURN_IF_ERROR(within("stages", tuning.stages, limits.min_stages, limits.max_stages));
  PURLIN_RETURN_IF_ERROR(
      within("stage_bytes", tuning.stage_bytes, limits.min_stage_bytes, limits.max_stage_bytes));
  PURLIN_RETURN_IF_ERROR(within("threads", tuning.threads, limits.min_threads, limits.max_threads));
  if (bound.cuda && tuning.threads && tuning.threads->value % 32 != 0)
    return refuse(tuning.threads->origin,
                  fmt::format("threads {} is no multiple of 32, the size of a warp; write {}",
                              tuning.threads->value, (tuning.threads->value / 32 + 1) * 32));
  const uint64_t sources =
      std::min<uint64_t>(static_cast<uint64_t>(nranks), std::max(limits.max_sources, 1u));
  if (tuning.stage_bytes && tuning.stage_bytes->value != 0 &&
      tuning.stage_bytes->value < 16 * sources)
    return refuse(tuning.stage_bytes->origin,
                  fmt::format("stage_bytes {} leaves {} sources less than 16 bytes each; write at "
                              "least {}",
                              tuning.stage_bytes->value, sources, 16 * sources));

  const auto pick = [](const auto& mine, const auto& otherwise, uint32_t atoms) {
    const Setting<uint32_t> setting = mine ? *mine : *otherwise;
    return setting.value == 0 ? Setting<uint32_t>{atoms, {}} : setting;
  };
  const auto stages = pick(tuning.stages, policy.tuning.stages, limits.default_stages);
  const auto bytes =
      pick(tuning.stage_bytes, policy.tuning.stage_bytes, limits.default_stage_bytes);
  const uint64_t shared = uint64_t{stages.value} * bytes.value + limits.shared_bytes_fixed;
  const Origin& origin = is_written(stages.origin) ? stages.origin : bytes.origin;
  if (bound.shared_bytes_per_block == 0 || shared <= bound.shared_bytes_per_block ||
      !is_written(origin))
    return Status::ok();
  return refuse(origin,
                fmt::format("{} stages of {} and {} bytes of {}'s own need {} bytes of "
                            "shared memory, the device has {}; lower stages or stage_bytes",
                            stages.value, format_size(bytes.value), limits.shared_bytes_fixed, atom,
                            shared, bound.shared_bytes_per_block));
}

Status check_memory(const Policy& policy, const Bound& bound, int nranks) {
  const Staging& staging = policy.staging;
  // Each term is below 2^43 (policy/limits.h), so the sum is exact.
  const uint64_t pairs =
      static_cast<uint64_t>(nranks - 1) * staging.pair_slots.value * staging.pair_bytes.value;
  const uint64_t total = 2 * (staging.latency_bytes.value + staging.throughput_bytes.value) + pairs;
  if (bound.memory_bytes == 0 || total <= bound.memory_bytes) return Status::ok();
  const Setting<uint64_t>& blame = staging.throughput_bytes.value >= staging.latency_bytes.value
                                       ? staging.throughput_bytes
                                       : staging.latency_bytes;
  return refuse(
      blame.origin,
      fmt::format("staging of {} bytes a rank at {} ranks (2 x {} + 2 x {} + {} for pairs) "
                  "is more than the device's memory of {}; lower staging",
                  total, nranks, format_size(staging.latency_bytes.value),
                  format_size(staging.throughput_bytes.value), format_size(pairs),
                  format_size(bound.memory_bytes)));
}

// The file and the environment are held to the limit when they are read, a caller is here.
Status check_budget(const Policy& policy) {
  const Setting<uint32_t>& budget = policy.cta_budget;
  if (budget.value <= kMaxCtas) return Status::ok();
  return Status(
      PURLIN_INVALID_ARGUMENT,
      fmt::format("{}: a budget of {} CTAs is above {}, the most that have flags; ask for "
                  "at most that, or 0 to leave it to the policy",
                  budget.origin.text(), budget.value, kMaxCtas));
}

template <class Check>
Status for_each_collective(CollectiveSet set, Check check) {
  for (unsigned c = 0; c < PURLIN_COLLECTIVE_COUNT; ++c)
    if ((set >> c & 1u) != 0 && c != PURLIN_BARRIER)
      PURLIN_RETURN_IF_ERROR(check(static_cast<purlin_collective>(c)));
  return Status::ok();
}

}  // namespace

Status check_file(const Policy& policy) {
  // Capacity shrinks as ranks are added, so a setting that fits nowhere does not fit at the least.
  const auto least = [](const Scope& scope) {
    return std::clamp(2, scope.ranks.first, std::max(scope.ranks.last, 1));
  };
  for (const auto& row : policy.crossover.rows)
    PURLIN_RETURN_IF_ERROR(for_each_collective(row.scope.collectives, [&](purlin_collective c) {
      return check_crossover(policy, row.setting, c, least(row.scope));
    }));
  PURLIN_RETURN_IF_ERROR(for_each_collective(kAllCollectives, [&](purlin_collective c) {
    return check_crossover(policy, policy.crossover.otherwise, c, 2);
  }));
  for (const auto& row : policy.one_shot_limit.rows)
    PURLIN_RETURN_IF_ERROR(check_one_shot(policy, row.setting, least(row.scope)));
  PURLIN_RETURN_IF_ERROR(check_one_shot(policy, policy.one_shot_limit.otherwise, 2));
  PURLIN_RETURN_IF_ERROR(check_chunk(policy, policy.tuning.chunk, 2));
  PURLIN_RETURN_IF_ERROR(check_ctas(policy, policy.tuning));
  for (const TuningRow& row : policy.tuning_rows) {
    PURLIN_RETURN_IF_ERROR(check_chunk(policy, row.tuning.chunk, least(row.scope)));
    PURLIN_RETURN_IF_ERROR(check_ctas(policy, row.tuning));
    PURLIN_RETURN_IF_ERROR(check_forced_latency(policy, row, least(row.scope)));
  }
  return Status::ok();
}

Status check_against(const Policy& policy, const Bound& bound, int nranks) {
  PURLIN_RETURN_IF_ERROR(check_budget(policy));
  PURLIN_RETURN_IF_ERROR(check_memory(policy, bound, nranks));
  PURLIN_RETURN_IF_ERROR(for_each_collective(kAllCollectives, [&](purlin_collective c) {
    return check_crossover(policy, policy.crossover.at(c, nranks, 0), c, nranks);
  }));
  PURLIN_RETURN_IF_ERROR(
      check_one_shot(policy, policy.one_shot_limit.at(PURLIN_ALL_REDUCE, nranks, 0), nranks));
  PURLIN_RETURN_IF_ERROR(check_chunk(policy, policy.tuning.chunk, nranks));
  PURLIN_RETURN_IF_ERROR(check_ctas(policy, policy.tuning));
  PURLIN_RETURN_IF_ERROR(check_pipeline(policy, policy.tuning, bound, nranks));
  for (const TuningRow& row : policy.tuning_rows) {
    if (!row.scope.ranks.contains(nranks)) continue;
    PURLIN_RETURN_IF_ERROR(check_chunk(policy, row.tuning.chunk, nranks));
    PURLIN_RETURN_IF_ERROR(check_ctas(policy, row.tuning));
    PURLIN_RETURN_IF_ERROR(check_forced_latency(policy, row, nranks));
    PURLIN_RETURN_IF_ERROR(check_pipeline(policy, row.tuning, bound, nranks));
  }
  return Status::ok();
}

}  // namespace purlin::policy
