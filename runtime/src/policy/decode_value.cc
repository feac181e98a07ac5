#include "policy/decode_value.h"

#include <fmt/format.h>

#include "policy/nearest.h"
#include "policy/quantity.h"
#include "policy/words.h"

namespace purlin::policy {
namespace {

constexpr uint64_t kMost32 = 0xFFFFFFFFull;

std::string found(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kNull:
      return "nothing";
    case Node::Kind::kScalar:
      return quoted(node.scalar);
    case Node::Kind::kList:
      return "a list";
    case Node::Kind::kMap:
      return "a map";
  }
  return "";
}

// An error that lists the words, with the one most likely meant.
Status wrong_word(const Place& place, const Node& node, const std::vector<std::string>& words) {
  return place.error(
      node, fmt::format("{} is not one of its words{}{} Write one of: {}", quoted(node.scalar),
                        did_you_mean(node.scalar, words),
                        nearest_word(node.scalar, words) ? "" : ".", comma_list(words)));
}

Status check_bounds(const Place& place, const Node& node, uint64_t value, const Bounds& bounds,
                    std::string (*spell)(uint64_t)) {
  if (value < bounds.least || value > bounds.most)
    return place.error(node, fmt::format("{} is outside {}..{}; write {}", quoted(node.scalar),
                                         spell(bounds.least), spell(bounds.most),
                                         spell(value < bounds.least ? bounds.least : bounds.most)));
  if (value % bounds.multiple != 0) {
    const uint64_t lower = value - value % bounds.multiple;
    const std::string least = lower < bounds.least ? "" : fmt::format("{} or ", spell(lower));
    return place.error(node, fmt::format("{} is no multiple of {}; write {}{}", quoted(node.scalar),
                                         bounds.multiple, least, spell(lower + bounds.multiple)));
  }
  return Status::ok();
}

std::string spell_count(uint64_t count) { return fmt::format("{}", count); }

Status number(const Place& place, const Node& node, const Bounds& bounds, bool is_size,
              bool or_auto, uint64_t& value) {
  const std::string* text = nullptr;
  PURLIN_RETURN_IF_ERROR(decode_scalar(place, node, is_size ? "a size" : "a count", text));
  if (or_auto && *text == "auto") {
    value = 0;
    return Status::ok();
  }
  const auto parsed = is_size ? parse_size(*text) : parse_count(*text);
  if (!parsed.is_ok()) return place.error(node, parsed.error + (or_auto ? ", or auto" : ""));
  value = parsed.value;
  return check_bounds(place, node, value, bounds, is_size ? format_size : spell_count);
}

}  // namespace

Place Place::below(std::string_view child) const {
  return {file, key.empty() ? std::string(child) : fmt::format("{}.{}", key, child)};
}
Place Place::item(size_t index) const { return {file, fmt::format("{}[{}]", key, index)}; }
Origin Place::origin(const Node& at) const { return {Source::kFile, file, at.line, at.column}; }
Status Place::error(const Node& at, const std::string& what) const {
  return Status(PURLIN_POLICY_ERROR, fmt::format("{}:{}:{}: {}{}{}", file, at.line, at.column, key,
                                                 key.empty() ? "" : ": ", what));
}

Status decode_scalar(const Place& place, const Node& node, const char* wanted,
                     const std::string*& text) {
  if (node.kind == Node::Kind::kNull)
    return place.error(node,
                       fmt::format("has no value; write {} behind it, or remove the key", wanted));
  if (node.kind != Node::Kind::kScalar)
    return place.error(node,
                       fmt::format("{} where {} is wanted; write one value", found(node), wanted));
  if (node.scalar.empty())
    return place.error(node, fmt::format("an empty text where {} is wanted; write one", wanted));
  text = &node.scalar;
  return Status::ok();
}

Status require_list(const Place& place, const Node& node) {
  if (node.kind == Node::Kind::kList && node.items.size() > kMostItems)
    return place.error(node, fmt::format("a list of {} items; at most {} are allowed",
                                         node.items.size(), kMostItems));
  if (node.kind == Node::Kind::kList) return Status::ok();
  const std::string hint =
      node.kind == Node::Kind::kScalar ? fmt::format("write [{}]", node.scalar) : "write [a, b]";
  return place.error(node, fmt::format("{} where a list is wanted; {}", found(node), hint));
}

Status require_map(const Place& place, const Node& node, const std::vector<std::string>& valid) {
  if (node.kind == Node::Kind::kMap) return Status::ok();
  return place.error(
      node, fmt::format("{} where a map is wanted; write KEY: VALUE with keys of: {}", found(node),
                        comma_list(valid)));
}

Status unknown_key(const Place& place, const Node& key, const std::vector<std::string>& valid) {
  const std::string where = place.key.empty() ? "" : fmt::format(" in {}", place.key);
  return Place{place.file, ""}.error(
      key, fmt::format("unknown key {}{}{}{} Keys here: {}", quoted(key.scalar), where,
                       did_you_mean(key.scalar, valid), nearest_word(key.scalar, valid) ? "" : ".",
                       comma_list(valid)));
}

Status decode(const Place& place, const Node& node, std::string& text) {
  const std::string* found_text = nullptr;
  PURLIN_RETURN_IF_ERROR(decode_scalar(place, node, "a text", found_text));
  text = *found_text;
  return Status::ok();
}

Status decode(const Place& place, const Node& node, Setting<bool>& on_off) {
  const std::string* text = nullptr;
  PURLIN_RETURN_IF_ERROR(decode_scalar(place, node, "on or off", text));
  if (*text != "on" && *text != "off") {
    const bool on = *text == "true" || *text == "yes" || *text == "1" || *text == "On";
    return place.error(node, fmt::format("{} is neither on nor off; did you mean \"{}\"?",
                                         quoted(*text), on ? "on" : "off"));
  }
  on_off = {*text == "on", place.origin(node)};
  return Status::ok();
}

Status decode(const Place& place, const Node& node, Setting<std::chrono::milliseconds>& duration) {
  const std::string* text = nullptr;
  PURLIN_RETURN_IF_ERROR(decode_scalar(place, node, "a duration", text));
  const auto parsed = parse_duration(*text);
  if (!parsed.is_ok()) return place.error(node, parsed.error);
  duration = {parsed.value, place.origin(node)};
  return Status::ok();
}

Status decode(const Place& place, const Node& node, ByteRange& range) {
  const std::string* text = nullptr;
  PURLIN_RETURN_IF_ERROR(decode_scalar(place, node, "a range of sizes", text));
  const auto parsed = parse_byte_range(*text);
  if (!parsed.is_ok()) return place.error(node, parsed.error);
  range = parsed.value;
  return Status::ok();
}

Status decode(const Place& place, const Node& node, RankRange& range) {
  const std::string* text = nullptr;
  PURLIN_RETURN_IF_ERROR(decode_scalar(place, node, "a range of ranks", text));
  const auto parsed = parse_rank_range(*text);
  if (!parsed.is_ok()) return place.error(node, parsed.error);
  range = parsed.value;
  return Status::ok();
}

Status decode(const Place& place, const Node& node, Words& words) {
  PURLIN_RETURN_IF_ERROR(require_list(place, node));
  words.clear();
  for (size_t i = 0; i < node.items.size(); ++i) {
    const Node& item = node.items[i];
    std::string text;
    PURLIN_RETURN_IF_ERROR(decode(place.item(i), item, text));
    for (const auto& earlier : words)
      if (earlier.value == text)
        return place.item(i).error(
            item, fmt::format("{} stands in the list already; remove one", quoted(text)));
    words.push_back({std::move(text), place.origin(item)});
  }
  return Status::ok();
}

template <class E>
Status decode_word(const Place& place, const Node& node, Setting<E>& value) {
  const std::string* text = nullptr;
  PURLIN_RETURN_IF_ERROR(decode_scalar(place, node, "a word", text));
  const auto found_value = from_word<E>(*text);
  if (!found_value) return wrong_word(place, node, words_of<E>());
  value = {*found_value, place.origin(node)};
  return Status::ok();
}

template <class E>
Status decode_word_list(const Place& place, const Node& node, std::vector<E>& values) {
  PURLIN_RETURN_IF_ERROR(require_list(place, node));
  if (node.items.empty())
    return place.error(node, "an empty list chooses nothing; name some, or remove the key");
  values.clear();
  for (size_t i = 0; i < node.items.size(); ++i) {
    Setting<E> value;
    PURLIN_RETURN_IF_ERROR(decode_word(place.item(i), node.items[i], value));
    for (const E earlier : values)
      if (earlier == value.value)
        return place.item(i).error(
            node.items[i],
            fmt::format("{} stands in the list already; remove one", quoted(node.items[i].scalar)));
    values.push_back(value.value);
  }
  return Status::ok();
}

Status decode_size(const Place& place, const Node& node, Bounds bounds, Setting<uint64_t>& size) {
  uint64_t value = 0;
  PURLIN_RETURN_IF_ERROR(number(place, node, bounds, true, false, value));
  size = {value, place.origin(node)};
  return Status::ok();
}

Status decode_size32(const Place& place, const Node& node, Bounds bounds, Setting<uint32_t>& size,
                     bool or_auto) {
  uint64_t value = 0;
  bounds.most = std::min(bounds.most, kMost32);
  PURLIN_RETURN_IF_ERROR(number(place, node, bounds, true, or_auto, value));
  size = {static_cast<uint32_t>(value), place.origin(node)};
  return Status::ok();
}

Status decode_count(const Place& place, const Node& node, Bounds bounds, Setting<uint32_t>& count,
                    bool or_auto) {
  uint64_t value = 0;
  bounds.most = std::min(bounds.most, kMost32);
  PURLIN_RETURN_IF_ERROR(number(place, node, bounds, false, or_auto, value));
  count = {static_cast<uint32_t>(value), place.origin(node)};
  return Status::ok();
}

template Status decode_word(const Place&, const Node&, Setting<purlin_device_kind>&);
template Status decode_word(const Place&, const Node&, Setting<purlin_reduction>&);
template Status decode_word(const Place&, const Node&, Setting<purlin_path>&);
template Status decode_word(const Place&, const Node&, Setting<Direction>&);
template Status decode_word(const Place&, const Node&, Setting<PacketForm>&);
template Status decode_word(const Place&, const Node&, Setting<ProgramKind>&);
template Status decode_word_list(const Place&, const Node&, std::vector<purlin_collective>&);
template Status decode_word_list(const Place&, const Node&, std::vector<purlin_dtype>&);
template Status decode_word_list(const Place&, const Node&, std::vector<purlin_op>&);

}  // namespace purlin::policy
