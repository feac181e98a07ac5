#include "policy/rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/quantity.h"
#include "policy/words.h"

namespace purlin::policy {
namespace {

using Row = const RowPlace*;

// "FILE:LINE:COLUMN: TABLE: this row (A) and the row at line N (B) WHAT; CURE".
Status fault(const std::string& table, Row a, Row b, const std::string& what,
             const std::string& cure) {
  const auto place = [](Row row) { return std::pair(row->origin.line, row->origin.column); };
  const Row second = place(a) > place(b) ? a : b, first = second == a ? b : a;
  return Status(PURLIN_POLICY_ERROR,
                fmt::format("{}: {}: this row ({}) and the row at line {} ({}) {}; {}",
                            second->origin.text(), table, second->scope.text(), first->origin.line,
                            first->scope.text(), what, cure));
}

Status check_sizes(const std::string& table, purlin_collective collective, int nranks,
                   std::vector<Row> rows) {
  std::sort(rows.begin(), rows.end(), [](Row a, Row b) {
    return std::pair(a->scope.bytes.above, a->scope.bytes.up_to) <
           std::pair(b->scope.bytes.above, b->scope.bytes.up_to);
  });
  for (size_t i = 1; i < rows.size(); ++i) {
    const ByteRange &before = rows[i - 1]->scope.bytes, &here = rows[i]->scope.bytes;
    const bool any_ranks =
        rows[i - 1]->scope.ranks == RankRange{} && rows[i]->scope.ranks == RankRange{};
    const std::string whom = fmt::format("for {}{}", word(collective),
                                         any_ranks ? "" : fmt::format(" at {} ranks", nranks));
    if (here.above < before.up_to || here.above == 0)
      return fault(table, rows[i - 1], rows[i], "overlap " + whom,
                   "let one end where the other begins");
    if (here.above > before.up_to)
      return fault(table, rows[i - 1], rows[i],
                   fmt::format("leave the sizes {} without a row {}",
                               format(ByteRange{before.up_to, here.above}), whom),
                   "extend one of them or add a row");
  }
  return Status::ok();
}

}  // namespace

Status check_rows(const std::string& table, const std::vector<RowPlace>& rows) {
  for (unsigned c = 0; c < PURLIN_COLLECTIVE_COUNT; ++c) {
    const auto collective = static_cast<purlin_collective>(c);
    Row previous = nullptr;  // of the nearest smaller number of ranks that has one
    int previous_ranks = 0;
    for (int nranks = 1; nranks <= PURLIN_MAX_RANKS; ++nranks) {
      std::vector<Row> here;
      for (const RowPlace& row : rows)
        if ((row.scope.collectives & set_of(collective)) != 0 && row.scope.ranks.contains(nranks))
          here.push_back(&row);
      if (here.empty()) continue;
      PURLIN_RETURN_IF_ERROR(check_sizes(table, collective, nranks, here));
      if (previous != nullptr && previous_ranks != nranks - 1)
        return fault(
            table, previous, here.front(),
            fmt::format("leave {} ranks without a row for {}",
                        format(RankRange{previous_ranks + 1, nranks - 1}), word(collective)),
            "extend one of them or add a row");
      previous = here.front();
      previous_ranks = nranks;
    }
  }
  return Status::ok();
}

}  // namespace purlin::policy
