#include "policy/reader.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "policy/decode.h"
#include "policy/document.h"
#include "policy/nearest.h"
#include "policy/text_check.h"

namespace purlin::policy {
namespace {

// More than any map of a policy has; keeps the search for duplicates short.
constexpr size_t kMostKeys = 64;

// Thrown by the handler below through the YAML library, caught in parse_document(); never leaves this file.
struct Refusal {
  int line, column;
  std::string what;
};

// Builds the tree from the library's events, which tell aliases and tags apart; its own node type
// has resolved them already.
class TreeBuilder : public YAML::EventHandler {
 public:
  Node take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    refuse(mark, fmt::format("anchor {}; policies have no anchors and aliases, write the value out",
                             quoted("&" + name)));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "an alias; policies have no anchors and aliases, write the value out");
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    add(node(mark, Node::Kind::kNull));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    check_tag(mark, tag);
    Node scalar = node(mark, Node::Kind::kScalar);
    scalar.scalar = value;
    add(std::move(scalar));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    check_tag(mark, tag);
    open_.push_back({node(mark, Node::Kind::kList), {}});
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    check_tag(mark, tag);
    open_.push_back({node(mark, Node::Kind::kMap), {}});
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Node node;
    std::optional<Node> key;  // of a map, waiting for its value
  };

  [[noreturn]] static void refuse(const YAML::Mark& mark, std::string what) {
    throw Refusal{mark.line + 1, mark.column + 1, std::move(what)};
  }
  static void check_tag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!")
      refuse(mark,
             fmt::format("tag {}; policies have no tags, write the value alone", quoted(tag)));
  }
  static Node node(const YAML::Mark& mark, Node::Kind kind) {
    Node made;
    made.kind = kind;
    made.line = mark.line + 1;
    made.column = mark.column + 1;
    return made;
  }
  void close() {
    Node closed = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(closed));
  }
  void add(Node node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == Node::Kind::kList) {
      parent.node.items.push_back(std::move(node));
    } else if (parent.key) {
      if (node.kind == Node::Kind::kNull) {  // the library's mark is that of the next token
        node.line = parent.key->line;
        node.column = parent.key->column;
      }
      parent.node.entries.push_back({std::move(*parent.key), std::move(node)});
      parent.key.reset();
    } else {
      check_key(parent.node, node);
      parent.key = std::move(node);
    }
  }
  static void check_key(const Node& map, const Node& key) {
    if (key.kind != Node::Kind::kScalar)
      throw Refusal{key.line, key.column, "a key must be a word; write KEY: VALUE"};
    if (map.entries.size() == kMostKeys)
      throw Refusal{
          key.line, key.column,
          fmt::format("more than {} keys in one map; docs/policy.md lists those there are",
                      kMostKeys)};
    for (const Entry& entry : map.entries)
      if (entry.key.scalar == key.scalar)
        throw Refusal{key.line, key.column,
                      fmt::format("key {} stands on line {} already; keep one of the two",
                                  quoted(key.scalar), entry.key.line)};
  }

  Node root_;
  std::vector<Open> open_;
};

}  // namespace

Result<Node> parse_document(std::string_view raw, const std::string& file) {
  auto text = checked_text(raw, file);
  if (!text) return text.status();
  const auto error = [&](int line, int column, const std::string& what) {
    return Status(PURLIN_POLICY_ERROR, fmt::format("{}:{}:{}: {}", file, line, column, what));
  };
  const auto lines = static_cast<int>(std::count(text->begin(), text->end(), '\n')) +
                     (text->empty() || text->back() == '\n' ? 0 : 1);
  // The end mark makes the library refuse a quote that is never closed; alone it lets that pass.
  std::istringstream stream(std::move(text).value() + "\n...\n");
  TreeBuilder builder;
  try {
    YAML::Parser parser(stream);
    const bool any = parser.HandleNextDocument(builder);
    Node root = builder.take();
    if (!any || root.kind == Node::Kind::kNull)
      return error(1, 1, "the policy is empty; write at least \"version: 1\"");
    TreeBuilder second;
    if (parser.HandleNextDocument(second)) {
      const Node extra = second.take();
      return error(extra.line, extra.column,
                   "a second document; a policy is one document, remove what follows \"---\"");
    }
    return root;
  } catch (const Refusal& refusal) {
    return error(refusal.line, refusal.column, refusal.what);
  } catch (const YAML::Exception& exception) {
    const bool placed = !exception.mark.is_null() && exception.mark.line < lines;
    return error(placed ? exception.mark.line + 1 : std::max(lines, 1),
                 placed ? exception.mark.column + 1 : 1,
                 fmt::format("not valid YAML: {}; see docs/policy.md for the form of a policy",
                             exception.msg));
  }
}

Result<Policy> read_policy(std::string_view text, const std::string& file,
                           purlin_device_kind kind) {
  auto root = parse_document(text, file);
  if (!root) return root.status();
  Policy policy = built_in_policy(kind);
  policy.file = file;
  const size_t slash = file.rfind('/');
  policy.name = slash == std::string::npos ? file : file.substr(slash + 1);
  PURLIN_RETURN_IF_ERROR(decode_policy(*root, file, policy));
  return policy;
}

Result<Match> read_match(std::string_view text, const std::string& file) {
  auto root = parse_document(text, file);
  if (!root) return root.status();
  Match match;
  PURLIN_RETURN_IF_ERROR(decode_match(*root, file, match));
  return match;
}

}  // namespace purlin::policy
