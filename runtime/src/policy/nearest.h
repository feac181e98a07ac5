// The valid word that somebody most likely meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace purlin::policy {

// The candidate with the fewest edits (insert, delete, replace, swap of neighbours; case, '-' and
// '_' count as equal), or nothing when none is near: more than a third of the longer word differs.
std::optional<std::string> nearest_word(std::string_view text,
                                        const std::vector<std::string>& candidates);

// "; did you mean \"X\"?" or "".
std::string did_you_mean(std::string_view text, const std::vector<std::string>& candidates);

// "a, b, c".
std::string comma_list(const std::vector<std::string>& words);

// Text of a user's for a message: in quotes, cut after 60 characters, control characters escaped.
std::string quoted(std::string_view text);

}  // namespace purlin::policy
