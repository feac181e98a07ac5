// The word somebody probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace purlin::tools {

// Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`.
int edit_distance(std::string_view a, std::string_view b);

// The entry of `known` nearest to `word`; empty if none is within half of the word's length.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known);

// `unknown WHAT "word"; did you mean "x"? Known: a, b, c.`
std::string unknown_word(std::string_view what, std::string_view word,
                         const std::vector<std::string_view>& known);

}  // namespace purlin::tools
