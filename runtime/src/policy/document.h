// A policy's text as a tree with positions: what the YAML library leaves once its own types are
// gone.
#pragma once

#include <string>
#include <vector>

namespace purlin::policy {

struct Entry;

struct Node {
  enum class Kind { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  int line = 1;  // 1-based
  int column = 1;
  std::string scalar;
  std::vector<Node> items;     // kList
  std::vector<Entry> entries;  // kMap, in the file's order; keys are scalars and differ
};

struct Entry {
  Node key;
  Node value;
};

}  // namespace purlin::policy
