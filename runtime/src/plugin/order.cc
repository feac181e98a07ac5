#include "plugin/order.h"

#include <fmt/format.h>

#include "plugin/preference.h"
#include "plugin/text_rules.h"

namespace purlin::plugin {

Precedence compare(const Candidate& left, const Candidate& right, const Selection& selection) {
  const purlin_atom_descriptor& a = *left.plugin->descriptor;
  const purlin_atom_descriptor& b = *right.plugin->descriptor;
  // Unwished ones (-1) compare as the largest unsigned number: last.
  const auto a_wish = static_cast<unsigned>(wish_index(left.named, selection));
  const auto b_wish = static_cast<unsigned>(wish_index(right.named, selection));
  if (a_wish != b_wish) return {a_wish < b_wish, "named-by-policy"};
  if (a.architecture != b.architecture) {
    return {a.architecture > b.architecture, "closer-architecture"};
  }
  if (a.priority != b.priority) return {a.priority > b.priority, "higher-priority"};
  const int version = compare_versions(a.version, b.version);
  if (version != 0) return {version > 0, "newer-version"};
  return {left.search_index < right.search_index, "earlier-path"};
}

std::string explain_precedence(const Candidate& winner, const Candidate& loser,
                               std::string_view rule) {
  const purlin_atom_descriptor& a = *winner.plugin->descriptor;
  const purlin_atom_descriptor& b = *loser.plugin->descriptor;
  if (rule == "named-by-policy") return fmt::format("the policy puts {} before {}", a.name, b.name);
  if (rule == "closer-architecture") {
    return fmt::format("{} is made for architecture {}, {} for {}", a.name, a.architecture, b.name,
                       b.architecture);
  }
  if (rule == "higher-priority") {
    return fmt::format("{} declares priority {}, {} declares {}", a.name, a.priority, b.name,
                       b.priority);
  }
  if (rule == "newer-version") {
    return fmt::format("{} has version {}, {} has {}", a.name, a.version, b.name, b.version);
  }
  return fmt::format("{} is found before {}", winner.plugin->path.string(),
                     loser.plugin->path.string());
}

}  // namespace purlin::plugin
