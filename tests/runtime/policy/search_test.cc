#include "policy/search.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "policy/match.h"
#include "policy/search_folders.h"
#include "reading.h"

namespace purlin::policy {
namespace {

using testing::holds;
using testing::starts_with;

namespace fs = std::filesystem;

// A folder of policies that goes away with the test.
class Folder {
 public:
  Folder() {
    std::string path = fs::temp_directory_path() / "purlin_search_XXXXXX";
    REQUIRE(mkdtemp(path.data()) != nullptr);
    path_ = path;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }
  std::string path() const { return path_; }

 private:
  fs::path path_;
};

Environment variables(std::map<std::string, std::string> values) {
  return [values](const char* name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

Request in_folders(std::vector<std::string> folders,
                   std::map<std::string, std::string> environment = {}) {
  Request request;
  request.folders = std::move(folders);
  request.environment = variables(std::move(environment));
  return request;
}

purlin_device_facts device(const std::string& name) { return *device_facts_of(name); }

Found must_find(const std::string& name, const Request& request) {
  auto found = find_policy(device(name), request);
  REQUIRE_MESSAGE(found.is_ok(), found.status().message());
  return std::move(*found);
}

std::string text_for(const std::string& match, const std::string& crossover) {
  return "version: 1\nmatch: " + match + "\ncrossover: " + crossover + "\n";
}

const Candidate& entry(const Found& found, const std::string& ending) {
  for (const Candidate& candidate : found.trace)
    if (candidate.path.size() >= ending.size() &&
        candidate.path.compare(candidate.path.size() - ending.size(), ending.size(), ending) == 0)
      return candidate;
  FAIL("no entry for ", ending, " in\n", trace_text(found.trace));
  return found.trace.front();
}

TEST_CASE(
    "with no policy anywhere the built-in defaults hold, and the trace says where was looked") {
  const Folder empty;
  const Found found = must_find("sm_90", in_folders({"/nowhere/at/all", empty.path()}));
  CHECK(found.policy.name == "built-in defaults");
  REQUIRE(found.trace.size() == 3);
  CHECK(found.trace[0].verdict == Verdict::kAbsent);
  CHECK(found.trace[0].reason == "No such file or directory");
  CHECK(found.trace[1].reason == "holds no policy");
  CHECK(found.trace[2].verdict == Verdict::kChosen);
  CHECK(holds(trace_text(found.trace), "  absent     /nowhere/at/all (folder): No such file"));
}

TEST_CASE("the most specific file of the first folder that has a match wins") {
  const Folder near, far;
  near.write("a.yaml", text_for("{kind: cuda}", "1KiB"));
  near.write("b.yaml", text_for("{kind: cuda, architecture: [sm_90]}", "2KiB"));
  near.write("c.yaml", text_for("{architecture: [sm_80..sm_90]}", "3KiB"));
  near.write("d.yaml", text_for("{kind: host}", "4KiB"));
  near.write("e.yaml", "version: 1\n");
  near.write("notes.txt", "not a policy");
  near.write(".hidden.yaml", "not a policy");
  far.write("f.yaml", text_for("{name: \"*H200*\"}", "6KiB"));

  const Found found = must_find("sm_90", in_folders({near.path(), far.path()}));
  CHECK(found.policy.crossover.otherwise.value == 2048);
  CHECK(found.policy.crossover.otherwise.origin.where == near.path() + "/b.yaml");
  CHECK(entry(found, "b.yaml").verdict == Verdict::kChosen);
  CHECK(entry(found, "a.yaml").verdict == Verdict::kOutranked);
  CHECK(holds(entry(found, "a.yaml").reason, "b.yaml is more specific"));
  CHECK(entry(found, "c.yaml").verdict == Verdict::kOutranked);
  CHECK(entry(found, "d.yaml").verdict == Verdict::kNoMatch);
  CHECK(holds(entry(found, "d.yaml").reason, "for kind host"));
  CHECK(holds(entry(found, "d.yaml").reason, "d.yaml:2:15"));
  CHECK(entry(found, far.path()).verdict == Verdict::kIgnored);
  CHECK(found.trace.size() == 6);

  CHECK(must_find("sm_80", in_folders({near.path()})).policy.crossover.otherwise.value == 3072);
  CHECK(must_find("sm_100", in_folders({near.path()})).policy.crossover.otherwise.value == 1024);
  CHECK(must_find("host", in_folders({near.path()})).policy.crossover.otherwise.value == 4096);
  CHECK(must_find("sm_90", in_folders({far.path()})).policy.crossover.otherwise.value == 6144);
  CHECK(
      must_find("sm_80", in_folders({far.path(), near.path()})).policy.crossover.otherwise.value ==
      3072);
}

TEST_CASE("among equally specific files the first by name wins") {
  const Folder folder;
  folder.write("b.yaml", text_for("{kind: host}", "2KiB"));
  folder.write("a.yml", text_for("{kind: host}", "1KiB"));
  const Found found = must_find("host", in_folders({folder.path()}));
  CHECK(found.policy.crossover.otherwise.value == 1024);
  CHECK(holds(entry(found, "b.yaml").reason, "comes first by name"));
}

TEST_CASE("a fault in a file that matches is an error, in one for other devices it is not") {
  const Folder folder;
  folder.write("a.yaml", text_for("{kind: cuda}", "8K"));
  CHECK(must_find("host", in_folders({folder.path()})).policy.name == "built-in defaults");
  const auto refused = find_policy(device("sm_90"), in_folders({folder.path()}));
  REQUIRE_FALSE(refused.is_ok());
  CHECK(refused.status().code() == PURLIN_POLICY_ERROR);
  CHECK(starts_with(refused.status().message(), folder.path() + "/a.yaml:3:12: crossover: \"8K\""));
}

TEST_CASE("a file whose match cannot be read is not passed over") {
  for (const char* text : {"version: 1\nmatch: [\n", "match: {kind: cuda}\n",
                           "version: 1\nmatch: "
                           "{kind: gpu}\n"}) {
    const Folder folder;
    folder.write("0.yaml", text_for("{kind: cuda}", "1KiB"));
    folder.write("a.yaml", text);
    const auto refused = find_policy(device("host"), in_folders({folder.path()}));
    INFO(std::string(text));
    REQUIRE_FALSE(refused.is_ok());
    CHECK(starts_with(refused.status().message(), folder.path() + "/a.yaml:"));
    CHECK(holds(refused.status().message(), "looked at before:\n  no match   "));
  }
}

TEST_CASE("PURLIN_POLICY names a file or a folder that comes first") {
  const Folder named, usual;
  const std::string file = named.write("mine.txt", text_for("{kind: host}", "1KiB"));
  usual.write("a.yaml", text_for("{kind: host}", "2KiB"));
  usual.write("b.yaml", text_for("{kind: cuda}", "3KiB"));
  const Found by_file = must_find("host", in_folders({usual.path()}, {{"PURLIN_POLICY", file}}));
  CHECK(by_file.policy.crossover.otherwise.value == 1024);
  CHECK(by_file.trace.front().rule == "PURLIN_POLICY");

  // One that is for other devices is listed, and the search goes on.
  const Found other = must_find("sm_90", in_folders({usual.path()}, {{"PURLIN_POLICY", file}}));
  CHECK(other.policy.crossover.otherwise.value == 3072);
  CHECK(other.trace.front().verdict == Verdict::kNoMatch);

  const Found by_folder =
      must_find("host", in_folders({named.path()}, {{"PURLIN_POLICY", usual.path()}}));
  CHECK(by_folder.policy.crossover.otherwise.value == 2048);

  const auto missing = find_policy(
      device("host"), in_folders({usual.path()}, {{"PURLIN_POLICY", named.path() + "/none.yaml"}}));
  REQUIRE_FALSE(missing.is_ok());
  CHECK(starts_with(missing.status().message(), "environment variable PURLIN_POLICY: "));
  CHECK(holds(missing.status().message(), "none.yaml: cannot be read: No such file"));

  CHECK(must_find("host", in_folders({usual.path()}, {{"PURLIN_POLICY", ""}}))
            .policy.crossover.otherwise.value == 2048);
}

TEST_CASE("a policy that is given is used as it is, and the trace says when it does not match") {
  const Folder folder;
  Request request = in_folders({folder.path()}, {{"PURLIN_POLICY", "/none"}});
  request.text = text_for("{kind: cuda}", "1KiB");
  const Found found = must_find("host", request);
  CHECK(found.policy.crossover.otherwise.origin.text() == "<text>:3:12");
  REQUIRE(found.trace.size() == 1);
  CHECK(found.trace[0].verdict == Verdict::kChosen);
  CHECK(holds(found.trace[0].reason, "used because it was given, although it is for kind cuda"));

  request.text.reset();
  request.path = folder.write("p.yaml", text_for("{kind: host}", "2KiB"));
  CHECK(must_find("host", request).policy.crossover.otherwise.value == 2048);
  CHECK(must_find("host", request).trace[0].reason.empty());

  request.path = folder.path() + "/none.yaml";
  CHECK(find_policy(device("host"), request).status().code() == PURLIN_SYSTEM_ERROR);
  request.text = "version: 1\n";
  CHECK(find_policy(device("host"), request).status().code() == PURLIN_INVALID_ARGUMENT);
}

TEST_CASE("the environment overrides whatever was found") {
  const Folder folder;
  folder.write("a.yaml", text_for("{kind: host}", "1KiB"));
  const Found found =
      must_find("host", in_folders({folder.path()}, {{"PURLIN_CROSSOVER", "2KiB"}}));
  CHECK(found.policy.crossover.otherwise.value == 2048);
  CHECK(found.policy.crossover.otherwise.origin.text() == "environment variable PURLIN_CROSSOVER");
  const auto bad = find_policy(device("host"), in_folders({}, {{"PURLIN_CROSSOVER", "2K"}}));
  CHECK(starts_with(bad.status().message(), "environment variable PURLIN_CROSSOVER: \"2K\" is no"));
}

TEST_CASE("the usual folders are the user's, the system's and the install's") {
  const auto folders = search_folders(variables({{"HOME", "/home/a"}}));
  REQUIRE(folders.size() == 3);
  CHECK(folders[0].path == "/home/a/.config/purlin");
  CHECK(folders[1].path == "/etc/purlin");
  CHECK(holds(folders[2].path, "/share/purlin/config"));
  const auto xdg = search_folders(variables({{"HOME", "/home/a"}, {"XDG_CONFIG_HOME", "/x"}}));
  CHECK(xdg[0].path == "/x/purlin");
  const auto none = search_folders(variables({{"HOME", "relative"}}));
  CHECK(none[0].path.empty());
  CHECK(holds(none[0].missing, "neither XDG_CONFIG_HOME nor HOME"));
}

TEST_CASE("devices that are not there can be named") {
  CHECK(device("host").kind == PURLIN_ATOM_HOST);
  const purlin_device_facts hopper = device("sm_90");
  CHECK(hopper.cc_major == 9);
  CHECK(hopper.cc_minor == 0);
  CHECK(hopper.multicast == 1);
  CHECK(device("sm_103").cc_major == 10);
  CHECK(device("sm_103").cc_minor == 3);
  CHECK(device("sm_87").multicast == 0);
  for (const char* name : {"", "sm_", "sm_70", "sm_9x", "sm_090", "gpu", "90", "sm_1000"}) {
    INFO(std::string(name));
    CHECK(device_facts_of(name).status().code() == PURLIN_INVALID_ARGUMENT);
  }
  CHECK(holds(device_facts_of("sm90").status().message(), "did you mean \"sm_90\"?"));
}

}  // namespace
}  // namespace purlin::policy
