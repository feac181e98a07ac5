#include "tools/pack.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "level.h"
#include "tools/plugin_verdict.h"

using namespace purlin::tools;
namespace fs = std::filesystem;

namespace {

constexpr const char* kDescription = R"(version: 1
name: packed
release: 1.2.3
device_abi: 2
architecture: 80
capabilities: [copy, reduce, packets, signals]
limits:
  max_sources: 8
  max_destinations: 8
  stages: {min: 1, max: 1, default: 1}
  stage_bytes: {min: 16, max: 16, default: 16}
  threads: {min: 128, max: 512, default: 256}
  reductions:
    bf16: [sum, max]
)";

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/purlin-pack-XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, std::string_view content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  std::string read(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  size_t entries() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

constexpr std::string_view kFatbin = "\x50\xed\x55\xba and so on";
constexpr std::string_view kCubin = "\177ELF and so on";

}  // namespace

TEST_CASE("an image names its architecture, a reduction its type, and the file tells its kind") {
  const Folder folder;
  const std::string fatbin = folder.write("core@odd=name", kFatbin);
  const auto core = parse_image("core", fatbin + "@90a", "13.0");
  REQUIRE_MESSAGE(core, core.error());
  CHECK(core->path == fatbin);
  CHECK(core->base == 90);
  CHECK(core->specific == "a");
  CHECK(core->kind == "lto-ir");
  const std::string cubin = folder.write("x.cubin", kCubin);
  const auto reduction = parse_image("reduction", "BF16=" + cubin + "@80", "");
  REQUIRE_MESSAGE(reduction, reduction.error());
  CHECK(reduction->dtype == "bf16");
  CHECK(reduction->kind == "cubin");
  const std::string text = folder.write("text", "just some words");
  const std::string wrong[] = {fatbin.substr(0, fatbin.find('@')),
                               fatbin + "@x",
                               fatbin + "@90b",
                               fatbin + "@0",
                               text + "@90",
                               folder.path("absent") + "@90"};
  for (const std::string& word : wrong) {
    CAPTURE(word);
    CHECK_FALSE(parse_image("core", word, ""));
    purlin::test::count_cases(1);
  }
  CHECK_FALSE(parse_image("reduction", cubin + "@80", ""));
  CHECK_FALSE(parse_image("reduction", "f12=" + cubin + "@80", ""));
}

TEST_CASE("a packed Atom is accepted, holds the description's text and the images' bytes") {
  const Folder folder;
  const auto core = parse_image("core", folder.write("a", kFatbin) + "@80", "13.0");
  const auto other = parse_image("core", folder.write("b", kCubin) + "@90", "");
  const auto reduction = parse_image("reduction", "bf16=" + folder.write("c", kFatbin) + "@80", "");
  REQUIRE((core && other && reduction));
  const auto packed =
      pack_atom({kDescription, "atom.yaml", {*core, *other, *reduction}, folder.path("vendor")});
  REQUIRE_MESSAGE(packed, packed.error());
  const std::string yaml = folder.read("vendor/atom.yaml");
  CHECK(yaml.starts_with(std::string(kDescription) + "images:\n"));
  CHECK(folder.read("vendor/core_80_0.fatbin") == kFatbin);
  CHECK(folder.read("vendor/core_90_1.cubin") == kCubin);
  CHECK(folder.entries() == 4);
  const auto verdict = judge_plugin(folder.path("vendor"), "sm_90");
  REQUIRE(verdict);
  CHECK_MESSAGE(verdict->accepted, verdict->reason);
  CHECK(verdict->atom["name"] == "packed");
  CHECK(verdict->atom["images"].size() == 3);
  CHECK(verdict->fit().accepted);
}

TEST_CASE("what is refused leaves no folder and says why, with the given file's line") {
  const Folder folder;
  const auto core = parse_image("core", folder.write("a", kFatbin) + "@80", "");
  REQUIRE(core);
  std::string description = kDescription;
  description.replace(description.find("bf16"), 4, "bf15");
  const auto wrong = pack_atom({description, "my/atom.yaml", {*core}, folder.path("vendor")});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().find("my/atom.yaml:14:") != std::string::npos);
  CHECK(wrong.error().find("[atom-yaml]") != std::string::npos);
  CHECK_FALSE(pack_atom({kDescription, "x", {}, folder.path("vendor")}));
  CHECK(folder.entries() == 1);
  fs::create_directory(folder.path("vendor"));
  const auto there = pack_atom({kDescription, "x", {*core}, folder.path("vendor")});
  REQUIRE_FALSE(there);
  CHECK(there.error().find("there already") != std::string::npos);
  CHECK(folder.entries() == 2);
}

TEST_CASE("the package's fragments are read from its list") {
  const Folder folder;
  folder.write("f_bf16_80.fatbin", kFatbin);
  folder.write("reductions.list",
               "f_bf16_80|PURLIN_IMAGE_REDUCTION|PURLIN_BF16|80|0|fragment bf16 80|13000|"
               "f_bf16_80.fatbin\n");
  const auto images = package_reductions(folder.path(""));
  REQUIRE_MESSAGE(images, images.error());
  REQUIRE(images->size() == 1);
  CHECK((*images)[0].dtype == "bf16");
  CHECK((*images)[0].base == 80);
  CHECK((*images)[0].compiler == "13.0");
  folder.write("reductions.list", "something else\n");
  CHECK_FALSE(package_reductions(folder.path("")));
  CHECK_FALSE(package_reductions(folder.path("absent")));
}
