// The reader, the schema and the written list of keys are three places that must say the same.
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "policy/overrides.h"
#include "reading.h"

namespace purlin::policy {
namespace {

using Json = nlohmann::ordered_json;
using Keys = std::set<std::string>;

std::string source_text(const std::string& path) {
  std::ifstream file(std::string(PURLIN_SOURCE_DIR) + "/" + path);
  REQUIRE_MESSAGE(file.good(), path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The map form of a schema's node: itself, or the alternative that is an object; NULL for neither.
const Json* object_of(const Json& schema) {
  if (schema.contains("properties")) return &schema;
  if (schema.contains("items")) return object_of(schema.at("items"));
  if (schema.contains("anyOf"))
    for (const Json& alternative : schema.at("anyOf"))
      if (const Json* found = object_of(alternative)) return found;
  return nullptr;
}

// A policy with the unknown key "zz" inside the map at `path`; a list holds one map.
std::string probe(const std::vector<std::string>& path, const Json& root) {
  std::string text = "version: 1\n", closing;
  const Json* schema = &root;
  for (const std::string& key : path) {
    schema = &schema->at("properties").at(key);
    const bool list = schema->contains("items");
    text += key + ": " + (list ? "[{" : "{");
    closing = (list ? "}]" : "}") + closing;
    schema = object_of(*schema);
  }
  return text + "zz: 1" + closing + "\n";
}

// Keys that the reader lists when it meets an unknown one.
Keys reader_keys(const std::string& text) {
  const auto policy = read_policy(text, "p.yaml", PURLIN_DEVICE_HOST);
  REQUIRE_FALSE_MESSAGE(policy.is_ok(), text);
  const std::string& message = policy.status().message();
  const size_t at = message.find("Keys here: ");
  REQUIRE_MESSAGE(at != std::string::npos, message);
  Keys keys;
  std::istringstream list(message.substr(at + 11));
  for (std::string key; std::getline(list, key, ',');) {
    key.erase(0, key.find_first_not_of(' '));
    keys.insert(key);
  }
  return keys;
}

void compare_keys(std::vector<std::string>& path, const Json& object, const Json& root,
                  Keys& leaves) {
  Keys listed;
  for (const auto& [key, value] : object.at("properties").items()) listed.insert(key);
  const std::string text = probe(path, root);
  INFO("probe:\n", text);
  CHECK(reader_keys(text) == listed);
  CHECK(object.at("additionalProperties") == false);
  for (const auto& [key, value] : object.at("properties").items()) {
    leaves.insert(key);
    const Json* inner = object_of(value);
    if (inner == nullptr) continue;
    path.push_back(key);
    compare_keys(path, *inner, root, leaves);
    path.pop_back();
  }
}

TEST_CASE("the schema and the reader know the same keys at every level") {
  const Json schema = Json::parse(source_text("config/policy.schema.json"));
  std::vector<std::string> path;
  Keys keys;
  compare_keys(path, schema, schema, keys);
  CHECK(keys.size() > 45);

  // Every key is in the written list too.
  const std::string page = source_text("docs/policy.md");
  for (const std::string& key : keys) {
    INFO(key);
    const bool listed = page.find("`" + key + "`") != std::string::npos ||
                        page.find("." + key + "`") != std::string::npos ||
                        page.find("`" + key + ".") != std::string::npos;
    CHECK(listed);
  }
}

TEST_CASE("every key in the written list is one that the reader knows") {
  const Json schema = Json::parse(source_text("config/policy.schema.json"));
  const std::string page = source_text("docs/policy.md");
  const size_t begin = page.find("## Keys"), end = page.find("### Tables");
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  std::istringstream lines(page.substr(begin, end - begin));
  int seen = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, 3, "| `") != 0) continue;
    std::istringstream cell(line.substr(2, line.find('|', 1) - 2));
    for (std::string word; cell >> word;) {
      word.erase(
          std::remove_if(word.begin(), word.end(),
                         [](char c) { return c == '`' || c == ',' || c == '[' || c == ']'; }),
          word.end());
      const Json* object = &schema;
      const Json& settings = schema.at("properties").at("tuning").at("properties").at("default");
      std::istringstream parts(word);
      for (std::string part; std::getline(parts, part, '.');) {
        INFO(word);
        REQUIRE(object != nullptr);
        const Json& known = object->at("properties");
        const Json* from = known.contains(part) ? &known
                           : object == &schema  ? &settings.at("properties")
                                                : nullptr;
        REQUIRE(from != nullptr);
        REQUIRE(from->contains(part));
        object = object_of(from->at(part));
      }
      ++seen;
    }
  }
  CHECK(seen > 35);
}

TEST_CASE("the schema names the same words as the reader") {
  const Json defs = Json::parse(source_text("config/policy.schema.json")).at("$defs");
  for (const Json& collective : defs.at("collectives").at("items").at("enum"))
    CHECK(testing::error_of("tuning: {rows: [{collectives: [" + collective.get<std::string>() +
                            "], chunk: 1KiB}]}\n") == "");
  for (const Json& word : defs.at("reductionWord").at("enum"))
    CHECK(testing::error_of("reduction: " + word.get<std::string>() + "\n") == "");
}

// YAML blocks of the page.
std::vector<std::string> examples(const std::string& page) {
  std::vector<std::string> found;
  const std::string open = "```yaml\n";
  for (size_t at = page.find(open); at != std::string::npos; at = page.find(open, at + 1)) {
    const size_t start = at + open.size();
    found.push_back(page.substr(start, page.find("```", start) - start));
  }
  return found;
}

TEST_CASE("the examples of the page are policies") {
  const auto blocks = examples(source_text("docs/policy.md"));
  CHECK(blocks.size() >= 1);
  for (const std::string& block : blocks) {
    const auto policy = read_policy(block, "example", PURLIN_DEVICE_CUDA);
    CHECK_MESSAGE(policy.is_ok(), policy.status().message());
  }
}

TEST_CASE("the errors that the page shows are what somebody would see") {
  const std::string page = source_text("docs/policy.md");
  const auto shown = [&](const std::string& error) {
    CHECK_MESSAGE(page.find("\n" + error + "\n") != std::string::npos, error);
  };
  const auto reading = [](const std::string& text) {
    return read_policy("version: 1\n" + text, "my.yaml", PURLIN_DEVICE_CUDA);
  };
  shown(reading("staging: {latencybytes: 1MiB}\n").status().message());
  shown(reading("crossover: 8K\n").status().message());
  shown(reading("tuning:\n  rows:\n    - {bytes: 1MiB.., chunk: 64KiB}\n"
                "    - {bytes: 0..256KiB, chunk: 64KiB}\n")
            .status()
            .message());
  shown(reading("crossover: 64MiB\n").status().message());
  Policy policy = built_in_policy(PURLIN_DEVICE_HOST);
  shown(apply_environment(policy, [](const char* name) {
          return std::string(name) == "PURLIN_TIMEOUT" ? std::optional<std::string>("10")
                                                       : std::nullopt;
        }).message());
}

}  // namespace
}  // namespace purlin::policy
