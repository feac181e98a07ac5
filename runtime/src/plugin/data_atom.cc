#include "plugin/data_atom.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "plugin/descriptor_check.h"
#include "plugin/file_content.h"
#include "plugin/plugin_memory.h"
#include "plugin/trust.h"

namespace purlin::plugin {
namespace {

// Reads a file of the folder that must be as safe as a plugin's own.
Verdict read_trusted(const std::filesystem::path& path, bool privileged, FileContent* out) {
  std::error_code failed;
  const std::filesystem::path resolved = std::filesystem::canonical(path, failed);
  if (failed) {
    return refuse("file-missing", fmt::format("{}: {}", path.string(), failed.message()),
                  "put the file into the Atom's folder, or correct its name in atom.yaml");
  }
  if (resolved != path) {
    return refuse("not-a-file", fmt::format("{} is a link", path.string()),
                  "put the file itself into the Atom's folder");
  }
  if (Verdict verdict = read_content(path, out); !verdict.accepted) return verdict;
  return judge_trust(out->status, path, privileged);
}

MemorySpan span_of(const void* begin, std::size_t size) {
  return {static_cast<const std::byte*>(begin), size, false};
}

// All that the descriptor may point to, for the checks that every descriptor passes.
PluginMemory memory_of(const DataAtom& atom) {
  std::vector<MemorySpan> spans = {
      span_of(&atom.descriptor, sizeof(atom.descriptor)),
      span_of(&atom.limits, sizeof(atom.limits)),
      span_of(atom.table.data(), atom.table.size() * sizeof(purlin_atom_image))};
  for (const std::string* text : {&atom.name, &atom.version, &atom.vendor, &atom.description}) {
    spans.push_back(span_of(text->c_str(), text->size() + 1));
  }
  for (const DataImage& image : atom.images) {
    spans.push_back(span_of(image.bytes.data(), image.bytes.size()));
    spans.push_back(span_of(image.file.c_str(), image.file.size() + 1));
  }
  return PluginMemory(std::move(spans));
}

// A version of an Atom: its folder, and what tells one atom.yaml there from the next.
using Key = std::tuple<std::string, ino_t, off_t, time_t, long>;

// Every version that was ever accepted: descriptors stay valid for ever. Never destroyed.
struct Kept {
  std::mutex mutex;
  std::map<Key, std::shared_ptr<const Plugin>> atoms;
};
Kept& kept() {
  static Kept* const instance = new Kept();
  return *instance;
}

std::shared_ptr<const Plugin> known_atom(const Key& key) {
  const std::scoped_lock lock(kept().mutex);
  const auto found = kept().atoms.find(key);
  return found == kept().atoms.end() ? nullptr : found->second;
}

std::shared_ptr<const Plugin> keep_atom(const Key& key, std::shared_ptr<const Plugin> atom) {
  const std::scoped_lock lock(kept().mutex);
  return kept().atoms.emplace(key, std::move(atom)).first->second;
}

}  // namespace

void link_descriptor(DataAtom* atom) {
  atom->table.clear();
  for (DataImage& image : atom->images) {
    image.image.data = image.bytes.data();
    image.image.bytes = image.bytes.size();
    image.image.name = image.file.c_str();
    atom->table.push_back(image.image);
  }
  purlin_atom_descriptor& descriptor = atom->descriptor;
  descriptor.struct_size = sizeof(descriptor);
  descriptor.abi_major = PURLIN_ATOM_ABI_MAJOR;
  descriptor.abi_minor = PURLIN_ATOM_ABI_MINOR;
  descriptor.kind = PURLIN_ATOM_CUDA;
  descriptor.name = atom->name.c_str();
  descriptor.version = atom->version.c_str();
  descriptor.vendor = atom->vendor.c_str();
  descriptor.description = atom->description.c_str();
  descriptor.limits = &atom->limits;
  descriptor.images = atom->table.data();
  descriptor.image_count = atom->table.size();
}

Verdict judge_data_atom(const std::filesystem::path& folder, bool privileged,
                        std::shared_ptr<const Plugin>* out) {
  const std::filesystem::path yaml = folder / kAtomYaml;
  FileContent content;
  if (Verdict verdict = read_trusted(yaml, privileged, &content); !verdict.accepted) return verdict;
  const Key key(folder.string(), content.status.st_ino, content.status.st_size,
                content.status.st_mtim.tv_sec, content.status.st_mtim.tv_nsec);
  if (auto known = known_atom(key)) {
    *out = std::move(known);
    return accept("accepted");
  }
  const std::string_view text(reinterpret_cast<const char*>(content.bytes.data()),
                              content.bytes.size());
  Result<DataAtom> decoded = decode_atom_yaml(text, yaml.string());
  if (!decoded) {
    return refuse("atom-yaml", decoded.status().message(), "correct the line that is named");
  }
  auto atom = std::make_shared<DataAtom>(std::move(decoded).value());
  for (DataImage& image : atom->images) {
    FileContent file;
    if (Verdict verdict = read_trusted(folder / image.file, privileged, &file); !verdict.accepted) {
      return verdict;
    }
    image.bytes = std::move(file.bytes);
  }
  link_descriptor(atom.get());
  if (Verdict verdict = check_descriptor(&atom->descriptor, memory_of(*atom)); !verdict.accepted) {
    return verdict;
  }
  auto plugin = std::make_shared<Plugin>();
  plugin->path = folder;
  plugin->descriptor = &atom->descriptor;
  plugin->data_only = true;
  plugin->storage = std::move(atom);
  *out = keep_atom(key, std::move(plugin));
  return accept("accepted");
}

}  // namespace purlin::plugin
