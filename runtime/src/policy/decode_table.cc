#include "policy/decode_table.h"

#include <fmt/format.h>

#include "policy/limits.h"
#include "policy/rows.h"
#include "policy/switch_form.h"
#include "policy/words.h"

namespace purlin::policy {
namespace {

Status decode_collectives(const Place& place, const Node& node, CollectiveSet& set) {
  std::vector<purlin_collective> list;
  PURLIN_RETURN_IF_ERROR(decode_word_list(place, node, list));
  set = 0;
  for (const purlin_collective collective : list) set |= set_of(collective);
  return Status::ok();
}

template <class T>
struct RowDraft {
  Scope scope;
  bool names_collectives = false;
  std::optional<Setting<T>> value;
};

template <class T>
Status decode_value_of(const Place& place, const Node& node, Setting<T>& value) {
  if constexpr (std::is_same_v<T, uint64_t>)
    return decode_size(place, node, kAnySize, value);
  else
    return decode_word(place, node, value);
}

template <class T>
constexpr Field<RowDraft<T>> kCollectivesField = {
    "collectives", [](const Place& p, const Node& n, RowDraft<T>& row) {
      row.names_collectives = true;
      return decode_collectives(p, n, row.scope.collectives);
    }};
template <class T>
constexpr Field<RowDraft<T>> kRanksField = {
    "ranks",
    [](const Place& p, const Node& n, RowDraft<T>& row) { return decode(p, n, row.scope.ranks); }};
template <class T>
constexpr Field<RowDraft<T>> kBytesField = {
    "bytes",
    [](const Place& p, const Node& n, RowDraft<T>& row) { return decode(p, n, row.scope.bytes); }};
template <class T>
constexpr Field<RowDraft<T>> kValueField = {"value",
                                            [](const Place& p, const Node& n, RowDraft<T>& row) {
                                              return decode_value_of(p, n, row.value.emplace());
                                            }};

constexpr Field<RowDraft<uint64_t>> kCrossoverRow[] = {
    kCollectivesField<uint64_t>, kRanksField<uint64_t>, kValueField<uint64_t>};
constexpr Field<RowDraft<uint64_t>> kOneShotRow[] = {kRanksField<uint64_t>, kValueField<uint64_t>};
constexpr Field<RowDraft<purlin_reduction>> kReductionRow[] = {
    kCollectivesField<purlin_reduction>, kRanksField<purlin_reduction>,
    kBytesField<purlin_reduction>, kValueField<purlin_reduction>};

// A row of `reduction` without collectives speaks of those that reduce; a row that asks for the
// switch names only collectives that have such a form.
Status settle(const Place& place, const Node& node, RowDraft<purlin_reduction>& row) {
  if (!row.names_collectives) row.scope.collectives = kReducingCollectives;
  const bool wants_switch = row.value->value != PURLIN_REDUCTION_SCORE;
  const CollectiveSet allowed =
      wants_switch ? kSwitchCollectives : kReducingCollectives | kSwitchCollectives;
  if (!row.names_collectives || (row.scope.collectives & ~allowed) == 0) return Status::ok();
  return place.error(node,
                     fmt::format("the row names {}, but {} may be said of {} only; name those",
                                 Scope{row.scope.collectives & ~allowed, {}, {}}.text(),
                                 word(row.value->value), Scope{allowed, {}, {}}.text()));
}
Status settle(const Place&, const Node&, RowDraft<uint64_t>&) { return Status::ok(); }

template <class T>
Status decode_rows(const Place& place, const Node& node, std::span<const Field<RowDraft<T>>> fields,
                   std::vector<typename Table<T>::Row>& rows) {
  PURLIN_RETURN_IF_ERROR(require_list(place, node));
  std::vector<RowPlace> places;
  for (size_t i = 0; i < node.items.size(); ++i) {
    const Place here = place.item(i);
    RowDraft<T> row;
    PURLIN_RETURN_IF_ERROR(decode_map(here, node.items[i], fields, row));
    if (!row.value) return here.error(node.items[i], "the row has no value; add value: …");
    PURLIN_RETURN_IF_ERROR(settle(here, node.items[i], row));
    rows.push_back({row.scope, *row.value});
    places.push_back({row.scope, here.origin(node.items[i])});
  }
  return check_rows(place.key, places);
}

// A single value, or a map of default and rows. Either replaces the built-in rows.
template <class T>
Status decode_table(const Place& place, const Node& node,
                    std::span<const Field<RowDraft<T>>> fields, Table<T>& table) {
  table.rows.clear();
  if (node.kind != Node::Kind::kMap) return decode_value_of(place, node, table.otherwise);
  for (const Entry& entry : node.entries) {
    const Place here = place.below(entry.key.scalar);
    if (entry.key.scalar == "default")
      PURLIN_RETURN_IF_ERROR(decode_value_of(here, entry.value, table.otherwise));
    else if (entry.key.scalar == "rows")
      PURLIN_RETURN_IF_ERROR(decode_rows<T>(here, entry.value, fields, table.rows));
    else
      return unknown_key(place, entry.key, {"default", "rows"});
  }
  return Status::ok();
}

}  // namespace

Status decode_reduction(const Place& place, const Node& node, Policy& policy) {
  return decode_table<purlin_reduction>(place, node, kReductionRow, policy.reduction);
}
Status decode_crossover(const Place& place, const Node& node, Policy& policy) {
  return decode_table<uint64_t>(place, node, kCrossoverRow, policy.crossover);
}
Status decode_one_shot_limit(const Place& place, const Node& node, Policy& policy) {
  return decode_table<uint64_t>(place, node, kOneShotRow, policy.one_shot_limit);
}

}  // namespace purlin::policy
