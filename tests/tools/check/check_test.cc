// Sound Atoms pass, and each faulty one fails by the requirement that it breaks.
#include "tools/check/check.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <span>
#include <sstream>
#include <thread>

#include "level.h"
#include "program/digest.h"
#include "purlin/atom_abi.h"
#include "purlin/purlin.h"
#include "tools/text_flow.h"

using namespace purlin::tools::check;
namespace fs = std::filesystem;

namespace {

CheckReport check(const std::string& path, std::set<int> only = {}, double limit = 60) {
  CheckOptions options;
  options.path = path;
  options.seed = purlin::test::seed();
  options.limit_seconds = limit;
  options.only = std::move(only);
  purlin::test::count_cases(1);
  return check_plugin(options);
}

// The first requirement that failed, 0 if none did.
int first_failure(const CheckReport& report) {
  for (size_t i = 0; i < report.findings.size(); ++i)
    if (report.findings[i].state == State::kFailed) return static_cast<int>(i) + 1;
  return 0;
}

const Finding& finding(const CheckReport& report, int number) {
  return report.findings[static_cast<size_t>(number - 1)];
}

std::string all_failures(const CheckReport& report) {
  std::string text = report.path;
  for (size_t i = 0; i < report.findings.size(); ++i)
    if (report.findings[i].state == State::kFailed)
      text += "\n" + std::to_string(i + 1) + ": " + report.findings[i].text;
  return text;
}

struct Broken {
  const char* file;
  int requirement;
};

// Built by test.cmake: the kit's host Atom with one promise broken.
constexpr Broken kBroken[] = {
    {"exports", kExports},
    {"constructor-crashes", kLoads},
    {"constructor-exits", kLoads},
    {"prints", kQuiet},
    {"takes-signal", kQuiet},
    {"sets-rounding", kQuiet},
    {"sets-variable", kQuiet},
    {"probe-changes", kProbe},
    {"no-packets", kCapabilities},
    {"skips-empty", kWalk},
    {"done-early", kWalk},
    {"crashes", kWalk},
    {"loses-tail", kWalk},
    {"overruns", kWalk},
    {"one-destination", kCopy},
    {"ignores-stop", kStop},
    {"stop-returns-0", kStop},
    {"min-for-max", kReduce},
    {"scales-not", kScale},
    {"reversed", kScore},
    {"callers-rounding", kEnvironment},
    {"leaves-rounding", kEnvironment},
    {"few-sources", kLimits},
    {"unpadded", kPackets},
    {"any-tag", kPackets},
    {"rare-size", kFuzz},
};

// Seen only when two threads meet at the wrong moment.
constexpr Broken kRacing[] = {{"tag-first", kOrder}, {"shared-scratch", kThreads}};

// Built for the loader's tests.
constexpr Broken kRefused[] = {
    {"abi-major-newer", kVersions},
    {"abi-major-older", kVersions},
    {"capability-unknown", kDescriptor},
    {"copier", kCapabilities},
    {"device-abi-newer", kVersions},
    {"device-abi-older", kVersions},
    {"does-nothing", kDescriptor},
    {"entry-garbage", kDescriptor},
    {"entry-hidden", kExports},
    {"entry-newer", kVersions},
    {"entry-null", kLoads},
    {"entry-older", kVersions},
    {"entry-other", kExports},
    {"entry-throws", kLoads},
    {"image-reserved", kDescriptor},
    {"kind-unknown", kDescriptor},
    {"limits-order", kDescriptor},
    {"limits-reserved", kDescriptor},
    {"limits-sources", kDescriptor},
    {"limits-stale", kDescriptor},
    {"mask-empty", kDescriptor},
    {"name-bad", kDescriptor},
    {"name-null", kDescriptor},
    {"operation-unknown", kDescriptor},
    {"probe-endless", kProbe},
    {"probe-refuses", kProbe},
    {"probe-throws", kProbe},
    {"size-huge", kDescriptor},
    {"size-stale", kDescriptor},
    {"sm100a", kImages},
    {"sm75", kImages},
    {"sm90", kImages},
    {"table-hole", kDescriptor},
    {"table-reserved", kDescriptor},
    {"table-stale", kDescriptor},
    {"text-bad", kDescriptor},
    {"type-unknown", kDescriptor},
    {"unresolved", kLoads},
    {"version-bad", kDescriptor},
    {"sound", kWalk},
    {"sound-newer", kWalk},
    {"eager", kWalk},
    {"few-sources", kWalk},
    {"constructor", kWalk},
    {"abi-minor-newer", kWalk},
};

std::string broken_file(const Broken& broken) {
  return std::string(PURLIN_BROKEN_FOLDER "/") + broken.file + ".so";
}

// Loading and all that a function table promises; communicators and the linker have cases of their
// own below.
std::set<int> without_links() {
  std::set<int> only;
  for (int number = 1; number <= kFuzz; ++number)
    if (number != kLinks) only.insert(number);
  return only;
}

// Tried up to the requirement that it breaks: what follows takes time.
CheckReport check_broken(const Broken& broken) {
  std::set<int> only = without_links();
  only.erase(only.upper_bound(broken.requirement), only.end());
  if (broken.requirement == kFuzz) only.erase(kThreads);  // walks at random too
  return check(broken_file(broken), only);
}

}  // namespace

TEST_CASE("the Atoms of the product and of the tests pass") {
  const CheckReport host = check(PURLIN_PRODUCT_FOLDER "/libatom-host.so");
  CHECK_MESSAGE(first_failure(host) == 0, all_failures(host));
  CHECK(host.count(State::kPassed) == 21);
  const CheckReport test = check(PURLIN_TESTHOST_FOLDER "/libatom-testhost.so", without_links());
  CHECK_MESSAGE(first_failure(test) == 0, all_failures(test));
  const CheckReport sound = check(PURLIN_BROKEN_FOLDER "/sound.so", without_links());
  CHECK_MESSAGE(first_failure(sound) == 0, all_failures(sound));
  for (const char* name : {"generic", "ampere", "hopper", "blackwell", "nvls", "nvls-blackwell"}) {
    const std::string path = std::string(PURLIN_PRODUCT_FOLDER "/libatom-") + name + ".so";
    if (!fs::exists(path)) {
      purlin::test::skip("no CUDA toolkit: the Atoms for GPUs are not built");
      return;
    }
    // Running them is for machines with a GPU.
    const CheckReport report = check(path, {kFile, kExports, kVersions, kLoads, kDescriptor, kQuiet,
                                            kProbe, kCapabilities, kImages, kEnvironment});
    CHECK_MESSAGE(first_failure(report) == 0, all_failures(report));
    CHECK(finding(report, kImages).state == State::kPassed);
    CHECK(finding(report, kEnvironment).state == State::kNotApplicable);
  }
}

TEST_CASE("a plugin of a newer minor passes") {
  const CheckReport newer = check(PURLIN_BROKEN_FOLDER "/newer-minor.so");
  CHECK_MESSAGE(first_failure(newer) == 0, all_failures(newer));
  CHECK(newer.atom["abi"] == "1." + std::to_string(PURLIN_ATOM_ABI_MINOR + 1));
}

TEST_CASE("a plugin that was built against ABI 1.0 and kept passes") {
#if defined(__x86_64__)
  const CheckReport report = check(PURLIN_FROZEN_FOLDER "/libatom-frozen-1-0.x86_64.so");
  CHECK_MESSAGE(first_failure(report) == 0, all_failures(report));
  CHECK(report.atom["abi"] == "1.0");
  CHECK(finding(report, kCollectives).state == State::kPassed);
#else
  purlin::test::skip("the frozen plugin is for x86-64");
#endif
}

TEST_CASE("an Atom for GPUs whose images were built against device ABI 2 and kept passes") {
  std::set<int> only = {kFile, kVersions, kDescriptor, kCapabilities, kImages};
  const std::string folder = PURLIN_FROZEN_FOLDER "/atom-frozen-1-0-gpu";
  const CheckReport report = check(folder, only);
  CHECK_MESSAGE(first_failure(report) == 0, all_failures(report));
  CHECK(finding(report, kImages).state == State::kPassed);
  CHECK(report.atom["device_abi"] == 2);
  if (std::string(purlin_version()).find("CUDA toolkit 13.") == std::string::npos) {
    purlin::test::skip("LTO-IR of CUDA 13 links with CUDA 13 alone");
    return;
  }
  const CheckReport links = check(folder, {kLinks});
  if (finding(links, kLinks).state == State::kNotChecked) {
    purlin::test::skip("links: " + finding(links, kLinks).text);
    return;
  }
  CHECK_MESSAGE(first_failure(links) == 0, all_failures(links));
  CHECK(finding(links, kLinks).cases > 0);
}

TEST_CASE("a plugin of ABI 0.9 is refused by its version, in words") {
#if defined(__x86_64__)
  const CheckReport report = check(PURLIN_FROZEN_FOLDER "/libatom-frozen-0-9.x86_64.so");
  CHECK(first_failure(report) == kVersions);
  CHECK(report.count(State::kFailed) == 1);
  const std::string& text = finding(report, kVersions).text;
  for (const char* part : {"exports purlin_atom_entry_v0 (ABI 0)",
                           "serves purlin_atom_entry_v1 (ABI 1.", "rebuild the plugin"})
    CHECK_MESSAGE(text.find(part) != std::string::npos, text);
#else
  purlin::test::skip("the frozen plugin is for x86-64");
#endif
}

TEST_CASE("nobody has touched what is kept") {
  std::ifstream note(PURLIN_FROZEN_FOLDER "/README.md");
  const std::string text((std::istreambuf_iterator<char>(note)), std::istreambuf_iterator<char>());
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(PURLIN_FROZEN_FOLDER)) {
    const std::string kind = entry.path().extension();
    if (kind != ".so" && kind != ".fatbin" && kind != ".yaml") continue;
    ++files;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)),
                            std::istreambuf_iterator<char>());
    const auto digest = purlin::sha256(std::as_bytes(std::span(bytes)));
    CHECK_MESSAGE(text.find(purlin::hex(digest)) != std::string::npos, entry.path());
  }
  CHECK(files == 5);
}

TEST_CASE("the programs of an Atom for GPUs link") {
  const char* const names[] = {"generic", "ampere", "hopper", "blackwell"};
  for (size_t i = 0; i < 4; ++i) {
    if (!purlin::test::is_full() && i != purlin::test::seed() % 4) continue;
    const std::string path = std::string(PURLIN_PRODUCT_FOLDER "/libatom-") + names[i] + ".so";
    if (!fs::exists(path)) {
      purlin::test::skip("no CUDA toolkit: the Atoms for GPUs are not built");
      return;
    }
    const CheckReport report = check(path, {kLinks}, 30);
    if (finding(report, kLinks).state == State::kNotChecked) {
      purlin::test::skip("links: " + finding(report, kLinks).text);
      continue;
    }
    CHECK_MESSAGE(first_failure(report) == 0, all_failures(report));
    CHECK(finding(report, kLinks).cases > 0);
  }
}

TEST_CASE("each broken Atom fails first by the requirement that it breaks") {
  for (const Broken& broken : kBroken) {
    const CheckReport report = check_broken(broken);
    CHECK_MESSAGE(first_failure(report) == broken.requirement,
                  broken.file << ": " << all_failures(report));
  }
}

// test.cmake keeps other tests off the processors meanwhile.
TEST_CASE("each Atom with a race fails first by the requirement that it breaks") {
  for (const Broken& broken : kRacing) {
    CheckReport report = check_broken(broken);
    // It may stay unseen while other work holds the processors.
    for (int again = 0; again < 20 && first_failure(report) == 0; ++again)
      report = check(broken_file(broken), {broken.requirement});
    double load[1] = {0};
    if (first_failure(report) == 0 && getloadavg(load, 1) == 1 &&
        load[0] > std::thread::hardware_concurrency()) {
      purlin::test::skip(std::string("race in ") + broken.file +
                         ": two threads need processors that other work holds");
      continue;
    }
    CHECK_MESSAGE(first_failure(report) == broken.requirement,
                  broken.file << ": " << all_failures(report));
  }
}

TEST_CASE("a hang is a result, and its functions are not called again") {
  const CheckReport loading = check(PURLIN_BROKEN_FOLDER "/constructor-hangs.so", {}, 1);
  CHECK_MESSAGE(first_failure(loading) == kLoads, all_failures(loading));
  CHECK(finding(loading, kLoads).text.find("did not end within 1 s") != std::string::npos);
  const CheckReport walking = check(PURLIN_BROKEN_FOLDER "/hangs.so", {}, 1);
  CHECK_MESSAGE(first_failure(walking) == kWalk, all_failures(walking));
  CHECK(walking.count(State::kFailed) == 1);
  CHECK(finding(walking, kFuzz).text == "requirement 11 did not end");
}

TEST_CASE("each plugin that the loader's tests refuse or accept fails by the right requirement") {
  std::set<std::string> known;
  for (const Broken& broken : kRefused) {
    const std::string path = std::string(PURLIN_FAULTY_FOLDER "/libatom-") + broken.file + ".so";
    REQUIRE_MESSAGE(fs::exists(path), path);
    known.insert(fs::path(path).filename().string());
    std::set<int> only = without_links();
    only.erase(only.upper_bound(broken.requirement), only.end());
    const CheckReport report = check(path, only, 20);
    CHECK_MESSAGE(first_failure(report) == broken.requirement,
                  broken.file << ": " << all_failures(report));
  }
  for (const auto& entry : fs::directory_iterator(PURLIN_FAULTY_FOLDER))
    CHECK_MESSAGE(known.contains(entry.path().filename().string()), entry.path());
}

TEST_CASE("what is no plugin fails by requirement 1, and nothing else is reached") {
  for (const char* path : {"/", "/etc/passwd", "/tmp/is-not-there/libatom-x.so"}) {
    const CheckReport report = check(path);
    CHECK_MESSAGE(first_failure(report) == kFile, path << ": " << all_failures(report));
    CHECK(report.count(State::kFailed) == 1);
    CHECK(finding(report, kWalk).text == "requirement 1 is broken");
  }
}

TEST_CASE("the report fits 80 columns, and JSON says the same") {
  const CheckReport report = check(PURLIN_BROKEN_FOLDER "/loses-tail.so", {kFile, kWalk, kLinks});
  std::istringstream lines(check_text(report));
  std::getline(lines, *std::make_unique<std::string>());  // the path
  for (std::string line; std::getline(lines, line);)
    CHECK_MESSAGE(purlin::tools::columns_of(line) <= purlin::tools::kColumns, line);
  const nlohmann::json json = check_json(report);
  CHECK(json["requirements"].size() == kCount);
  CHECK(json["failed"] == 1);
  CHECK(json["requirements"][kWalk - 1]["verdict"] == "failed");
  CHECK(json["requirements"][kWalk - 1]["found"].get<std::string>().find("byte") !=
        std::string::npos);
  CHECK(json["requirements"][kFile - 1]["verdict"] == "passed");
  CHECK(json["requirements"][kStop - 1]["verdict"] == "not checked");
  CHECK(json["atom"]["name"] == "faulty");
}

TEST_CASE("docs/atom-authoring.md numbers and names the same requirements") {
  std::ifstream in(PURLIN_SOURCE_DIR "/docs/atom-authoring.md");
  std::map<int, std::string> documented;
  const std::regex row(R"(^\| (\d+) \| `([a-z]+)` \|.*)");
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (std::regex_match(line, match, row)) documented[std::stoi(match[1])] = match[2];
  }
  CHECK(documented.size() == kCount);
  for (const Requirement& requirement : requirements())
    CHECK(documented[requirement.number] == requirement.name);
}
