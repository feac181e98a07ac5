#include "policy/choose.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/capacity.h"
#include "policy/effective.h"
#include "policy/quantity.h"
#include "policy/switch_form.h"
#include "policy/words.h"

namespace purlin::policy {
namespace {

Origin api(const char* field) { return {Source::kApi, field, 0, 0}; }

std::string said(const char* what, const char* value, const Origin& origin) {
  return fmt::format("{} {} ({})", what, value, origin.text());
}

Status unsupported(const Query& query, const std::string& what) {
  return Status(PURLIN_UNSUPPORTED,
                fmt::format("{} of {} ranks: {}", word(query.collective), query.nranks, what));
}

// What the call, the rows and the default together ask for.
struct Wishes {
  Setting<purlin_path> path;
  Setting<purlin_reduction> reduction;
  bool reduces = false;  // whether `reduction` speaks of this collective
  bool wants_switch = false;
  bool requires_switch = false;
  Origin switch_origin;
};

Status gather_wishes(const Policy& policy, const Query& query, const TuningRow* row,
                     Wishes& wishes) {
  const CollectiveSet self = set_of(query.collective);
  wishes.path = row != nullptr && row->tuning.path ? *row->tuning.path : *policy.tuning.path;
  if (query.path != PURLIN_PATH_AUTO) wishes.path = {query.path, api("purlin_call::path")};
  wishes.reduces = (self & kReducingCollectives) != 0;
  // A copying collective has no `otherwise`: only a row that names it speaks of it.
  wishes.reduction = {PURLIN_REDUCTION_SCORE, {}};
  if (wishes.reduces) wishes.reduction = policy.reduction.otherwise;
  for (const auto& entry : policy.reduction.rows)
    if (entry.scope.contains(query.collective, query.nranks, query.bytes))
      wishes.reduction = entry.setting;
  if (query.reduction != PURLIN_REDUCTION_POLICY)
    wishes.reduction = {query.reduction, api("purlin_call::reduction")};

  const Setting<purlin_reduction>& reduction = wishes.reduction;
  wishes.wants_switch = reduction.value != PURLIN_REDUCTION_SCORE;
  wishes.requires_switch = reduction.value == PURLIN_REDUCTION_NVLS_REQUIRED;
  wishes.switch_origin = reduction.origin;
  const bool path_is_later = wishes.path.origin.source > reduction.origin.source;
  const std::string both = fmt::format("{} contradicts {}; take one of them back",
                                       said("path", word(wishes.path.value), wishes.path.origin),
                                       said("reduction", word(reduction.value), reduction.origin));
  if (wishes.path.value == PURLIN_PATH_SWITCH) {
    if (wishes.reduces && !wishes.wants_switch && !path_is_later) return unsupported(query, both);
    wishes.wants_switch = wishes.requires_switch = true;
    if (path_is_later) wishes.switch_origin = wishes.path.origin;
  } else if (wishes.path.value != PURLIN_PATH_AUTO && wishes.wants_switch && path_is_later) {
    if (wishes.requires_switch) return unsupported(query, both);
    wishes.wants_switch = false;
  }
  return Status::ok();
}

// T as far as packets are concerned: with unequal parts the largest decides.
uint64_t packet_size(const Query& query) {
  const bool parts =
      query.collective == PURLIN_ALL_GATHER_V || query.collective == PURLIN_REDUCE_SCATTER_V;
  if (!parts || query.largest_part == 0) return query.bytes;
  const auto n = static_cast<uint64_t>(query.nranks);
  const uint64_t even = query.largest_part > kNoLimit / n ? kNoLimit : query.largest_part * n;
  return std::max(query.bytes, even);
}

Status choose_path(const Policy& policy, const Query& query, const Wishes& wishes, Choice& choice) {
  choice.reduction = {PURLIN_REDUCTION_SCORE, wishes.reduction.origin};
  if (wishes.wants_switch) {
    const bool has_form = (set_of(query.collective) & kSwitchCollectives) != 0;
    const std::string refusal =
        has_form ? query.switch_refusal : "the switch has no form for this collective";
    if (refusal.empty()) {
      choice.path = {PURLIN_PATH_SWITCH, wishes.switch_origin};
      choice.reduction.value = wishes.reduces ? PURLIN_REDUCTION_NVLS : PURLIN_REDUCTION_SCORE;
      choice.reduction.origin = wishes.switch_origin;
      return Status::ok();
    }
    if (wishes.requires_switch)
      return unsupported(query, fmt::format("NVLS is required by {} and cannot be had: {}; ask for "
                                            "reduction nvls or score instead",
                                            wishes.switch_origin.text(), refusal));
    choice.notes.push_back(
        fmt::format("NVLS was asked for by {} and cannot be had: {}; SCORE is "
                    "used",
                    wishes.switch_origin.text(), refusal));
  }
  const uint64_t size = packet_size(query);
  const uint64_t capacity = packet_capacity(policy, query.collective, query.nranks, false);
  if (wishes.path.value == PURLIN_PATH_LATENCY && size > capacity)
    return unsupported(query,
                       fmt::format("the latency path, forced by {}, carries at most {} here; leave "
                                   "the path to the policy, or raise {}",
                                   wishes.path.origin.text(), format_size(capacity),
                                   query.collective == PURLIN_SEND_RECV ? "staging.pair_bytes"
                                                                        : "staging.latency_bytes"));
  if (wishes.path.value != PURLIN_PATH_AUTO) {
    choice.path = wishes.path;
    return Status::ok();
  }
  const auto crossover = effective_crossover(policy, query.collective, query.nranks);
  const bool by_packets = query.bytes <= crossover.value && size <= capacity;
  choice.path = {by_packets ? PURLIN_PATH_LATENCY : PURLIN_PATH_THROUGHPUT, crossover.origin};
  if (query.bytes <= crossover.value && !by_packets)
    choice.notes.push_back(
        fmt::format("the largest part of {} is more than packets carry; the "
                    "throughput path is used",
                    format_size(query.largest_part)));
  return Status::ok();
}

Setting<Direction> default_direction(purlin_collective collective) {
  const bool push = collective == PURLIN_ALL_TO_ALL || collective == PURLIN_ALL_TO_ALL_V ||
                    collective == PURLIN_SEND_RECV;
  return {push ? Direction::kPush : Direction::kPull, {}};
}

}  // namespace

Result<Choice> choose(const Policy& policy, const Query& query) {
  if (query.cta_budget > kMaxCtas)
    return Status(
        PURLIN_INVALID_ARGUMENT,
        fmt::format("{} of {} ranks: purlin_call::cta_budget {} is above {}, the most that "
                    "have flags; ask for at most that, or 0 to leave it to the policy",
                    word(query.collective), query.nranks, query.cta_budget, kMaxCtas));
  const TuningRow* row = tuning_row(policy, query.collective, query.nranks, query.bytes);
  Choice choice;
  Wishes wishes;
  PURLIN_RETURN_IF_ERROR(gather_wishes(policy, query, row, wishes));
  PURLIN_RETURN_IF_ERROR(choose_path(policy, query, wishes, choice));

  const auto pick = [&](auto Tuning::*member) {
    return row != nullptr && row->tuning.*member ? *(row->tuning.*member)
                                                 : *(policy.tuning.*member);
  };
  const auto limit = effective_one_shot_limit(policy, query.nranks);
  const bool one_shot = query.collective == PURLIN_ALL_REDUCE &&
                        choice.path.value == PURLIN_PATH_LATENCY && query.bytes <= limit.value;
  choice.one_shot = {one_shot, limit.origin};
  if (row != nullptr && row->tuning.direction)
    choice.direction = *row->tuning.direction;
  else
    choice.direction = policy.tuning.direction.value_or(default_direction(query.collective));
  choice.chunk = effective_chunk(policy, pick(&Tuning::chunk), query.nranks);
  choice.stage_ctas = pick(&Tuning::stage_ctas);
  choice.reduce_ctas = pick(&Tuning::reduce_ctas);
  choice.gather_ctas = pick(&Tuning::gather_ctas);
  choice.stages = pick(&Tuning::stages);
  choice.stage_bytes = pick(&Tuning::stage_bytes);
  choice.threads = pick(&Tuning::threads);
  choice.zero_copy = pick(&Tuning::zero_copy);
  choice.cta_budget = policy.cta_budget;
  if (query.cta_budget != 0) choice.cta_budget = {query.cta_budget, api("purlin_call::cta_budget")};
  return choice;
}

}  // namespace purlin::policy
