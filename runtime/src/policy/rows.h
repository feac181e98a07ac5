// Rows of one table must not overlap and must leave no gap.
#pragma once

#include <string>
#include <vector>

#include "policy/scope.h"
#include "policy/setting.h"
#include "status/status.h"

namespace purlin::policy {

struct RowPlace {
  Scope scope;
  Origin origin;  // where the row begins in the file
};

// For each collective and number of ranks: no size belongs to two rows, and none between the first
// and the last row to none; nor does any number of ranks between the least and the greatest. The
// error stands at the lower of the two rows in the file and names both. `table` is the full key of
// the rows, for messages.
Status check_rows(const std::string& table, const std::vector<RowPlace>& rows);

}  // namespace purlin::policy
