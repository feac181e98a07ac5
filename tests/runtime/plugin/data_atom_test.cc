#include "plugin/data_atom.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "plugin/choice.h"
#include "runtime/plugin/scratch.h"

using namespace purlin;
using namespace purlin::plugin;
namespace fs = std::filesystem;

namespace {

const std::string kGood =
    "version: 1\n"
    "name: vendor-x\n"
    "release: 1.2.3\n"
    "vendor: Somebody\n"
    "description: moves bytes\n"
    "device_abi: " +
    std::to_string(PURLIN_ATOM_DEVICE_ABI) +
    "\n"
    "architecture: 90\n"
    "priority: -3\n"
    "capabilities: [copy, reduce, packets, signals]\n"
    "limits:\n"
    "  max_sources: 8\n"
    "  max_destinations: 4\n"
    "  stages: {min: 2, max: 12, default: 6}\n"
    "  stage_bytes: {min: 4KiB, max: 64KiB, default: 32KiB}\n"
    "  threads: {min: 128, max: 512, default: 256}\n"
    "  shared_bytes_fixed: 1KiB\n"
    "  reductions:\n"
    "    bf16: [sum, max]\n"
    "images:\n"
    "  - {file: core.fatbin, kind: lto-ir, role: core, base: 90, specific: a, compiler: 13.0}\n"
    "  - {file: bf16.fatbin, kind: lto-ir, role: reduction, dtype: bf16, base: 80}\n";

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  return text.replace(at, from.size(), to);
}

fs::path make(test::Scratch& scratch, const std::string& name, const std::string& yaml) {
  scratch.write(name + "/core.fatbin", bytes_of("the core's bytes"));
  scratch.write(name + "/bf16.fatbin", bytes_of("a fragment"));
  return scratch.write(name + "/atom.yaml", bytes_of(yaml)).parent_path();
}

}  // namespace

TEST_CASE("a folder with atom.yaml and images is an Atom like any other") {
  test::Scratch scratch;
  const fs::path folder = make(scratch, "x", kGood);
  scratch.add("sm75");
  const Catalogue catalogue = discover(scratch.selection(), test::cuda_facts(9, 0));
  CHECK(test::fitting(catalogue) == std::vector<std::string>{"vendor-x", "old"});
  const Result<BoundAtom> bound = choose(catalogue, Need{});
  REQUIRE_MESSAGE(bound, bound.status().message());
  const purlin_atom_descriptor& atom = *bound->descriptor;
  CHECK(bound->path == folder);
  CHECK(std::string(atom.version) == "1.2.3");
  CHECK(atom.priority == -3);
  CHECK(atom.limits->default_stage_bytes == 32768);
  CHECK(atom.limits->op_mask[PURLIN_BF16] == (1u << PURLIN_SUM | 1u << PURLIN_MAX));
  CHECK(atom.limits->op_mask[PURLIN_F32] == 0);
  REQUIRE(atom.image_count == 2);
  CHECK(atom.images[0].arch_specific == 'a');
  CHECK(atom.images[0].compiler == 13000);
  CHECK(std::string(static_cast<const char*>(atom.images[0].data), atom.images[0].bytes) ==
        "the core's bytes");
  CHECK(atom.images[1].dtype == PURLIN_BF16);
  CHECK(test::fitting(discover(scratch.selection(), test::cuda_facts(10, 0))) ==
        std::vector<std::string>{"old"});
}

TEST_CASE(
    "the same atom.yaml gives the same Atom, a changed one another, and the first stays valid") {
  test::Scratch scratch;
  const fs::path folder = make(scratch, "x", kGood);
  const Judged first = judge_file(folder, Selection{});
  REQUIRE_MESSAGE(first.plugin != nullptr, first.verdict.reason);
  CHECK(judge_file(folder, Selection{}).plugin == first.plugin);
  make(scratch, "x", replaced(kGood, "vendor-x", "vendor-yy"));
  const Judged second = judge_file(folder, Selection{});
  REQUIRE(second.plugin != nullptr);
  CHECK(std::string(second.plugin->descriptor->name) == "vendor-yy");
  CHECK(std::string(first.plugin->descriptor->name) == "vendor-x");
}

TEST_CASE("each fault of atom.yaml is named with its line") {
  test::Scratch scratch;
  struct Row {
    const char* from;
    const char* to;
    const char* rule;
    const char* text;
  };
  for (const Row& row : std::vector<Row>{
           {"version: 1", "version: 2", "atom-yaml", ":1:10:"},
           {"release", "relaese", "atom-yaml", "did you mean \"release\"?"},
           {"packets", "packet", "atom-yaml", "did you mean \"packets\"?"},
           {"kind: lto-ir", "kind: ltoir", "atom-yaml", "did you mean \"lto-ir\"?"},
           {"dtype: bf16", "dtype: bf17", "atom-yaml", "\"bf17\""},
           {"[sum, max]", "[sum, maxi]", "atom-yaml", "max"},
           {"bf16: [", "bf: [", "atom-yaml", "bf"},
           {"compiler: 13.0", "compiler: new", "atom-yaml", "\"13.0\""},
           {"file: core.fatbin", "file: ../core.fatbin", "atom-yaml", "without a slash"},
           {"file: core.fatbin, ", "", "atom-yaml", "needs the key file"},
           {"architecture: 90\n", "", "atom-yaml", "architecture is missing"},
           {"priority: -3", "priority: high", "atom-yaml", ":8:11:"},
           {"limits:", "limits: [", "atom-yaml", "not valid YAML"},
           {"file: core.fatbin", "file: absent.fatbin", "file-missing", "absent.fatbin"},
           {"vendor-x", "Vendor X", "descriptor-name", "Vendor X"},
           {"1.2.3", "1.2", "descriptor-version", "1.2"},
           {"default: 6", "default: 60", "limits-invalid", "stages"},
           {"role: core", "role: universal", "images-invalid", "universal"},
           {"base: 90", "base: 9", "images-invalid", "9"},
           {"device_abi: ", "device_abi: 9", "device-abi-newer", "device ABI 9"},
           {"device_abi: 2", "device_abi: 1", "device-abi-older",
            "has device ABI 1, this library links 2"},
           {"architecture: 90", "architecture: 0", "descriptor-kind", "architecture"}}) {
    const fs::path folder = make(scratch, "x", replaced(kGood, row.from, row.to));
    const Verdict verdict = judge_file(folder, Selection{}).verdict;
    CHECK_MESSAGE(verdict.rule == row.rule,
                  row.to << ": " << verdict.rule << ", " << verdict.reason);
    CHECK_MESSAGE(verdict.reason.find(row.text) != std::string::npos,
                  row.to << ": " << verdict.reason);
    CHECK_FALSE(verdict.accepted);
    fs::remove_all(folder);
  }
}

TEST_CASE("a data-only Atom's files are trusted no more than a plugin's") {
  test::Scratch scratch;
  const fs::path folder = make(scratch, "x", kGood);
  const auto rule = [&] { return judge_file(folder, Selection{}).verdict.rule; };
  REQUIRE(rule() == "accepted");
  // The same atom.yaml is known by now: another folder, so that its files are looked at again.
  const fs::path open = make(scratch, "open", kGood);
  fs::permissions(open / "core.fatbin", fs::perms::others_write, fs::perm_options::add);
  CHECK(judge_file(open, Selection{}).verdict.rule == "world-writable");
  fs::permissions(folder, fs::perms::others_write, fs::perm_options::add);
  CHECK(rule() == "world-writable");
  const fs::path linked = make(scratch, "linked", kGood);
  fs::remove(linked / "core.fatbin");
  fs::create_symlink("/etc/hostname", linked / "core.fatbin");
  CHECK(judge_file(linked, Selection{}).verdict.rule == "not-a-file");
  const fs::path dangling = scratch.folder("dangling");
  fs::create_symlink("nowhere", dangling / "atom.yaml");
  CHECK(judge_file(dangling, Selection{}).verdict.rule == "file-missing");
}

TEST_CASE("a data-only Atom is selected and named like a plugin") {
  test::Scratch scratch;
  make(scratch, "x", kGood);
  Selection selection = scratch.selection();
  selection.base = scratch.path();
  selection.prefer = {{"./x", ""}};
  CHECK(choose(discover(selection, test::cuda_facts(9, 0)), Need{}).is_ok());
  selection.prefer = {{"vendor-x", ""}};
  CHECK(choose(discover(selection, test::cuda_facts(9, 0)), Need{}).is_ok());
  selection.disable = {{"vendor-*", ""}};
  CHECK(test::rule_of(discover(selection, test::cuda_facts(9, 0)), "x") == "disabled");
}
