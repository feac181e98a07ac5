#include "policy/text_check.h"

#include <fmt/format.h>

#include "policy/quantity.h"
#include "policy/reader.h"

namespace purlin::policy {
namespace {

// Bytes of the UTF-8 character at the front of `text`; 0 if it is none (overlong forms, surrogates
// and values above U+10FFFF included).
size_t character_bytes(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto follows = [&](size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80, high = first == 0xED ? 0x9F : 0xBF;
    return follows(1, low, high) && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80, high = first == 0xF4 ? 0x8F : 0xBF;
    return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

Result<std::string> checked_text(std::string_view text, const std::string& file) {
  const auto error = [&](int line, int column, const std::string& what) {
    return Status(PURLIN_POLICY_ERROR, fmt::format("{}:{}:{}: {}", file, line, column, what));
  };
  if (text.size() > kMaxTextBytes)
    return error(1, 1,
                 fmt::format("the text has {} bytes, a policy at most {}; is this a policy?",
                             text.size(), format_size(kMaxTextBytes)));
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);

  std::string out;
  out.reserve(text.size());
  int line = 1, column = 1;
  bool comment = false, quoted = false;
  char previous = ' ';
  while (!text.empty()) {
    const size_t bytes = character_bytes(text);
    const char c = text[0];
    if (bytes == 0)
      return error(line, column,
                   fmt::format("byte 0x{:02x} is not UTF-8; save the file as UTF-8",
                               static_cast<unsigned char>(c)));
    if (c == '\r' && text.size() > 1 && text[1] == '\n') {
      text.remove_prefix(1);
      continue;
    }
    if (c == '\n') {
      comment = quoted = false;
      ++line;
      column = 0;
    } else if (c == '\t' && !comment) {
      return error(line, column, "a tab; indent and separate with spaces");
    } else if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F) {
      return error(
          line, column,
          fmt::format("control character 0x{:02x}; remove it", static_cast<unsigned char>(c)));
    } else if (c == '#' && !quoted && (previous == ' ' || previous == '\n')) {
      comment = true;
    } else if (c == '"' || c == '\'') {
      quoted =
          true;  // a '#' behind it may be part of a value: then a tab is refused, which is safe
    }
    previous = c;
    out.append(text.substr(0, bytes));
    text.remove_prefix(bytes);
    ++column;
  }
  return out;
}

}  // namespace purlin::policy
