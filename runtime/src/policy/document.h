// A policy's text as a tree with positions: what the YAML library leaves once its own types are
// gone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "status/status.h"

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

// The tree of a text that is one YAML document: a policy, or an Atom's atom.yaml. `file` is its name in
// messages. Anchors, aliases, tags and repeated keys are refused. PURLIN_POLICY_ERROR
// "FILE:LINE:COLUMN: …".
Result<Node> parse_document(std::string_view text, const std::string& file);

}  // namespace purlin::policy
