// Text for a terminal of 80 columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace purlin::tools {

inline constexpr size_t kColumns = 80;

// Columns that UTF-8 text takes: one a code point.
size_t columns_of(std::string_view text);

// `first` followed by `text`, broken at blanks so that no line passes kColumns; further lines start
// with `indent` blanks. A word longer than a line stands alone. Newlines in `text` break lines too.
// Ends with a newline.
std::string flow(std::string_view first, std::string_view text, size_t indent);

// Rows of cells as columns, two blanks apart, each line after `indent` blanks; the last column
// flows. Empty rows give an empty text.
std::string columns(const std::vector<std::vector<std::string>>& rows, size_t indent);

}  // namespace purlin::tools
