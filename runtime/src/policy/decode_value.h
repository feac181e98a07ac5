// The pieces from which policies are decoded: where one stands, single values, lists, maps.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/document.h"
#include "policy/policy.h"
#include "status/status.h"

namespace purlin::policy {

// Where the decoder stands: the file, and the key's full name ("tuning.rows[0].chunk").
struct Place {
  const std::string& file;
  std::string key;

  Place below(std::string_view child) const;  // of a map
  Place item(size_t index) const;             // of a list
  Status error(const Node& at, const std::string& what) const;
  Origin origin(const Node& at) const;
};

// Bounds of a number, both allowed, and what it must be a multiple of.
struct Bounds {
  uint64_t least = 0;
  uint64_t most = 0;
  uint64_t multiple = 1;
};

// Each reads one value and sets its origin, or says what is wrong with it.
Status decode(const Place& place, const Node& node, std::string& text);
Status decode(const Place& place, const Node& node, Setting<bool>& on_off);
Status decode(const Place& place, const Node& node, Setting<std::chrono::milliseconds>& duration);
Status decode(const Place& place, const Node& node, ByteRange& range);
Status decode(const Place& place, const Node& node, RankRange& range);
Status decode(const Place& place, const Node& node, Words& words);
template <class E>  // an enumerator of words.h
Status decode_word(const Place& place, const Node& node, Setting<E>& value);
template <class E>
Status decode_word_list(const Place& place, const Node& node, std::vector<E>& values);
Status decode_size(const Place& place, const Node& node, Bounds bounds, Setting<uint64_t>& size);
Status decode_size32(const Place& place, const Node& node, Bounds bounds, Setting<uint32_t>& size,
                     bool or_auto = false);  // "auto" reads as 0
Status decode_count(const Place& place, const Node& node, Bounds bounds, Setting<uint32_t>& count,
                    bool or_auto = false);

// The scalar text of a node, or an error that says what stands there instead of `wanted`.
Status decode_scalar(const Place& place, const Node& node, const char* wanted,
                     const std::string*& text);
// More than any list of a policy needs; keeps the search for duplicates and gaps short.
inline constexpr size_t kMostItems = 256;

// An error unless the node is a list of at most kMostItems.
Status require_list(const Place& place, const Node& node);

// One key of a map that decodes into a T.
template <class T>
struct Field {
  const char* key;
  Status (*decode)(const Place& place, const Node& node, T& into);
};

// An error that names the nearest key and lists the valid ones.
Status unknown_key(const Place& place, const Node& key, const std::vector<std::string>& valid);
Status require_map(const Place& place, const Node& node, const std::vector<std::string>& valid);

// Decodes every entry of a map, in the file's order.
template <class T>
Status decode_map(const Place& place, const Node& node, std::span<const Field<T>> fields, T& into) {
  std::vector<std::string> keys;
  for (const Field<T>& field : fields) keys.emplace_back(field.key);
  PURLIN_RETURN_IF_ERROR(require_map(place, node, keys));
  for (const Entry& entry : node.entries) {
    const Field<T>* found = nullptr;
    for (const Field<T>& field : fields)
      if (entry.key.scalar == field.key) found = &field;
    if (found == nullptr) return unknown_key(place, entry.key, keys);
    PURLIN_RETURN_IF_ERROR(found->decode(place.below(found->key), entry.value, into));
  }
  return Status::ok();
}

}  // namespace purlin::policy
