#include <fmt/format.h>

#include "policy/decode_table.h"
#include "policy/limits.h"
#include "policy/rows.h"

namespace purlin::policy {
namespace {

struct Ctas {
  std::optional<Setting<uint32_t>> stage, reduce, gather, total;
};

constexpr Field<Ctas> kCtasFields[] = {
    {"stage", [](const Place& p, const Node& n,
                 Ctas& c) { return decode_count(p, n, kCtas, c.stage.emplace()); }},
    {"reduce", [](const Place& p, const Node& n,
                  Ctas& c) { return decode_count(p, n, kCtas, c.reduce.emplace()); }},
    {"gather", [](const Place& p, const Node& n,
                  Ctas& c) { return decode_count(p, n, kCtas, c.gather.emplace()); }},
    {"total", [](const Place& p, const Node& n,
                 Ctas& c) { return decode_count(p, n, kTotalCtas, c.total.emplace()); }},
};

Status decode_ctas(const Place& place, const Node& node, Tuning& tuning) {
  Ctas ctas;
  PURLIN_RETURN_IF_ERROR(decode_map<Ctas>(place, node, kCtasFields, ctas));
  if (ctas.total) {
    if (ctas.stage || ctas.reduce || ctas.gather)
      return place.error(node, "total stands beside a role; write total alone, or the roles alone");
    const uint32_t total = ctas.total->value;
    const uint32_t side = std::max(1u, total * 2 / 7);
    const Origin& origin = ctas.total->origin;
    tuning.stage_ctas = tuning.gather_ctas = Setting<uint32_t>{side, origin};
    tuning.reduce_ctas = Setting<uint32_t>{total - 2 * side, origin};
    return Status::ok();
  }
  if (ctas.stage) tuning.stage_ctas = ctas.stage;
  if (ctas.reduce) tuning.reduce_ctas = ctas.reduce;
  if (ctas.gather) tuning.gather_ctas = ctas.gather;
  return Status::ok();
}

// The same keys serve tuning.default and, through RowDraft, tuning.rows.
template <class T>
Tuning& tuning_of(T& into) {
  if constexpr (std::is_same_v<T, Tuning>)
    return into;
  else
    return into.tuning;
}

template <class T>
constexpr Field<T> kSettingFields[] = {
    {"path", [](const Place& p, const Node& n,
                T& t) { return decode_word(p, n, tuning_of(t).path.emplace()); }},
    {"direction", [](const Place& p, const Node& n,
                     T& t) { return decode_word(p, n, tuning_of(t).direction.emplace()); }},
    {"chunk", [](const Place& p, const Node& n,
                 T& t) { return decode_size(p, n, kChunk, tuning_of(t).chunk.emplace()); }},
    {"ctas", [](const Place& p, const Node& n, T& t) { return decode_ctas(p, n, tuning_of(t)); }},
    {"stages",
     [](const Place& p, const Node& n, T& t) {
       return decode_count(p, n, kStages, tuning_of(t).stages.emplace(), true);
     }},
    {"stage_bytes",
     [](const Place& p, const Node& n, T& t) {
       return decode_size32(p, n, kStageBytes, tuning_of(t).stage_bytes.emplace(), true);
     }},
    {"threads",
     [](const Place& p, const Node& n, T& t) {
       return decode_count(p, n, kThreads, tuning_of(t).threads.emplace(), true);
     }},
    {"zero_copy", [](const Place& p, const Node& n,
                     T& t) { return decode(p, n, tuning_of(t).zero_copy.emplace()); }},
};

constexpr Field<TuningRow> kScopeFields[] = {
    {"collectives",
     [](const Place& p, const Node& n, TuningRow& row) {
       std::vector<purlin_collective> list;
       PURLIN_RETURN_IF_ERROR(decode_word_list(p, n, list));
       row.scope.collectives = 0;
       for (const purlin_collective c : list) row.scope.collectives |= set_of(c);
       return Status::ok();
     }},
    {"ranks",
     [](const Place& p, const Node& n, TuningRow& row) { return decode(p, n, row.scope.ranks); }},
    {"bytes",
     [](const Place& p, const Node& n, TuningRow& row) { return decode(p, n, row.scope.bytes); }},
};

bool sets_nothing(const Tuning& t) {
  return !t.path && !t.direction && !t.chunk && !t.stage_ctas && !t.reduce_ctas && !t.gather_ctas &&
         !t.stages && !t.stage_bytes && !t.threads && !t.zero_copy;
}

Status decode_default(const Place& place, const Node& node, Tuning& tuning) {
  PURLIN_RETURN_IF_ERROR(decode_map<Tuning>(place, node, kSettingFields<Tuning>, tuning));
  for (const Entry& entry : node.entries)
    if (entry.key.scalar == "path" && tuning.path->value == PURLIN_PATH_LATENCY)
      return place.below("path").error(
          entry.value,
          "latency for every size would overrun the packets; set crossover, or write "
          "path: latency in a row with bytes");
  return Status::ok();
}

Status decode_rows(const Place& place, const Node& node, std::vector<TuningRow>& rows) {
  PURLIN_RETURN_IF_ERROR(require_list(place, node));
  std::vector<Field<TuningRow>> fields(std::begin(kScopeFields), std::end(kScopeFields));
  fields.insert(fields.end(), std::begin(kSettingFields<TuningRow>),
                std::end(kSettingFields<TuningRow>));
  std::vector<RowPlace> places;
  for (size_t i = 0; i < node.items.size(); ++i) {
    const Node& item = node.items[i];
    const Place here = place.item(i);
    TuningRow row;
    row.origin = here.origin(item);
    PURLIN_RETURN_IF_ERROR(decode_map<TuningRow>(here, item, fields, row));
    if (sets_nothing(row.tuning))
      return here.error(item, "the row sets nothing; add a setting such as chunk or direction");
    places.push_back({row.scope, row.origin});
    rows.push_back(std::move(row));
  }
  return check_rows(place.key, places);
}

}  // namespace

Status decode_tuning(const Place& place, const Node& node, Policy& policy) {
  constexpr Field<Policy> kFields[] = {
      {"default", [](const Place& p, const Node& n,
                     Policy& into) { return decode_default(p, n, into.tuning); }},
      {"rows", [](const Place& p, const Node& n,
                  Policy& into) { return decode_rows(p, n, into.tuning_rows); }},
  };
  return decode_map<Policy>(place, node, kFields, policy);
}

}  // namespace purlin::policy
