#include "runtime/plugin/scratch.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace purlin::test {

namespace fs = std::filesystem;

fs::path built(const std::string& file) {
  return fs::path(PURLIN_FAULTY_FOLDER) / ("libatom-" + file + ".so");
}

std::vector<std::byte> read_bytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

Scratch::Scratch() {
  std::string pattern = (fs::temp_directory_path() / "purlin-plugin-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp " + pattern);
  path_ = fs::canonical(pattern);
}

Scratch::~Scratch() {
  std::error_code ignored_because_the_system_clears_its_own_tmp;
  fs::remove_all(path_, ignored_because_the_system_clears_its_own_tmp);
}

fs::path Scratch::add(const std::string& file, const std::string& name) {
  return write(name.empty() ? built(file).filename().string() : name, read_bytes(built(file)));
}

fs::path Scratch::write(const std::string& name, const std::vector<std::byte>& bytes) {
  const fs::path target = path_ / name;
  fs::create_directories(target.parent_path());
  std::ofstream out(target, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw std::runtime_error("cannot write " + target.string());
  return target;
}

fs::path Scratch::folder(const std::string& name) {
  fs::create_directories(path_ / name);
  return path_ / name;
}

plugin::Selection Scratch::selection() const {
  plugin::Selection selection;
  selection.default_folders = {path_};
  return selection;
}

ScopedVariable::ScopedVariable(const char* name, const std::string& value) : name_(name) {
  const char* before = std::getenv(name);
  had_ = before != nullptr;
  if (had_) before_ = before;
  setenv(name, value.c_str(), 1);
}

ScopedVariable::~ScopedVariable() {
  if (had_) {
    setenv(name_, before_.c_str(), 1);
  } else {
    unsetenv(name_);
  }
}

plugin::Verdict verdict_of(const std::string& file) {
  Scratch scratch;
  return plugin::judge_file(scratch.add(file), plugin::Selection{}).verdict;
}

std::string rule_of(const plugin::Catalogue& catalogue, const std::string& file_name) {
  for (const plugin::CatalogueFolder& folder : catalogue.folders) {
    for (const plugin::Judged& judged : folder.files) {
      if (judged.path.filename() == file_name) return judged.verdict.rule;
    }
  }
  return "absent";
}

std::vector<std::string> fitting(const plugin::Catalogue& catalogue) {
  std::vector<std::string> names;
  for (const plugin::Candidate& candidate : catalogue.candidates) {
    if (candidate.fit.accepted) names.emplace_back(candidate.plugin->descriptor->name);
  }
  return names;
}

purlin_device_facts cuda_facts(unsigned major, unsigned minor) {
  purlin_device_facts facts{};
  facts.struct_size = sizeof(facts);
  facts.kind = PURLIN_ATOM_CUDA;
  facts.cc_major = major;
  facts.cc_minor = minor;
  facts.name = "a GPU of the test";
  return facts;
}

}  // namespace purlin::test
