#include <fmt/format.h>

#include "policy/quantity.h"
#include "policy/words.h"

namespace purlin::policy {

std::string Scope::text() const {
  std::string list;
  if (collectives == kAllCollectives) {
    list = "every collective";
  } else {
    for (unsigned c = 0; c < PURLIN_COLLECTIVE_COUNT; ++c)
      if ((collectives >> c & 1u) != 0)
        list += (list.empty() ? "" : "+") + std::string(word(static_cast<purlin_collective>(c)));
  }
  if (ranks != RankRange{}) list += fmt::format(", {} ranks", format(ranks));
  if (bytes != ByteRange{}) list += fmt::format(", {}", format(bytes));
  return list;
}

}  // namespace purlin::policy
