#include "tools/text_flow.h"

#include <algorithm>

namespace purlin::tools {
namespace {

// The next run of non-blanks of `text` from `at` on, and whether a newline came before it.
struct Word {
  std::string_view text;
  int newlines = 0;
};
Word next_word(std::string_view text, size_t& at) {
  Word word;
  while (at < text.size() && (text[at] == ' ' || text[at] == '\n'))
    word.newlines += text[at++] == '\n';
  const size_t start = at;
  while (at < text.size() && text[at] != ' ' && text[at] != '\n') ++at;
  word.text = text.substr(start, at - start);
  return word;
}

}  // namespace

size_t columns_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;
  }));
}

std::string flow(std::string_view first, std::string_view text, size_t indent) {
  std::string out(first);
  size_t used = columns_of(first);
  bool fresh = true;  // nothing of `text` on this line yet
  for (size_t at = 0; at < text.size();) {
    const Word word = next_word(text, at);
    if (word.text.empty()) break;
    const size_t width = columns_of(word.text);
    if ((word.newlines > 0 && !fresh) || used + (fresh ? 0 : 1) + width > kColumns) {
      const bool stays_alone = fresh && used <= indent;
      if (!stays_alone) {
        while (!out.empty() && out.back() == ' ') out.pop_back();
        out += '\n' + std::string(indent, ' ');
        used = indent;
        fresh = true;
      }
    }
    if (!fresh) {
      out += ' ';
      ++used;
    }
    out += word.text;
    used += width;
    fresh = false;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out + "\n";
}

std::string columns(const std::vector<std::vector<std::string>>& rows, size_t indent) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line(indent, ' ');
    for (size_t i = 0; i + 1 < row.size(); ++i)
      line += row[i] + std::string(widths[i] - columns_of(row[i]) + 2, ' ');
    // A first part that leaves no room puts the rest on lines of its own.
    const size_t hang = std::min(columns_of(line), kColumns / 2);
    out += flow(line, row.empty() ? "" : row.back(), hang);
  }
  return out;
}

}  // namespace purlin::tools
