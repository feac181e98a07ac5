// Where a value came from, and a value that remembers it.
#pragma once

#include <string>
#include <utility>

namespace purlin::policy {

// In order of precedence: a later source overrides an earlier one.
enum class Source { kBuiltIn, kFile, kEnvironment, kApi };

struct Origin {
  Source source = Source::kBuiltIn;
  // kFile: path of the policy ("<text>" for a text given by the caller). kEnvironment: name of the
  // variable. kApi: name of the field or argument. kBuiltIn: empty.
  std::string where;
  int line = 0;  // 1-based; 0 unless source is kFile
  int column = 0;

  // "built-in default", "FILE:LINE:COLUMN", "environment variable NAME" or "API field NAME".
  std::string text() const;
  bool operator==(const Origin&) const = default;
};

template <class T>
struct Setting {
  T value{};
  Origin origin;
};

}  // namespace purlin::policy
