#include "plugin/loaded.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <utility>

#include "plugin/descriptor_check.h"
#include "plugin/plugin_memory.h"
#include "plugin/shared_object.h"

namespace purlin::plugin {
namespace {

struct Loaded {
  struct stat status {};
  Verdict verdict;
  std::shared_ptr<const Plugin> plugin;
};

// An inode that is mapped is never given to another file, so the key stays true while we live.
struct Table {
  std::mutex mutex;
  std::map<std::pair<dev_t, ino_t>, Loaded> loaded;
};

// Never destroyed: threads may still ask while the process ends.
Table& table() {
  static Table* const instance = new Table();
  return *instance;
}

bool changed(const struct stat& before, const struct stat& now) {
  return before.st_size != now.st_size || before.st_mtim.tv_sec != now.st_mtim.tv_sec ||
         before.st_mtim.tv_nsec != now.st_mtim.tv_nsec;
}

Verdict answer(const Loaded& loaded, const struct stat& status,
               std::shared_ptr<const Plugin>* out) {
  if (changed(loaded.status, status)) {
    return refuse(
        "changed-since-load", "the file was overwritten after this process had loaded it",
        "start the process again; replace plugins by renaming a new file over the old one");
  }
  if (loaded.verdict.accepted) *out = loaded.plugin;
  return loaded.verdict;
}

Verdict load(const std::filesystem::path& path, std::shared_ptr<const Plugin>* out) {
  const Result<SharedObject> object = load_shared_object(path);
  if (!object) {
    return refuse("load-failed", object.status().message(),
                  "install the libraries it needs; ldd -r names what is missing");
  }
  const Result<const purlin_atom_descriptor*> descriptor = call_entry(object->entry);
  if (!descriptor) {
    return refuse("entry-threw", descriptor.status().message(), "report it to the plugin's author");
  }
  if (descriptor.value() == nullptr) {
    return refuse("entry-null", fmt::format("{} returned a null pointer", PURLIN_ATOM_ENTRY_NAME),
                  "report it to the plugin's author");
  }
  Verdict verdict = check_descriptor(descriptor.value(), PluginMemory(object->spans));
  if (!verdict.accepted) return verdict;
  auto plugin = std::make_shared<Plugin>();
  plugin->path = path;
  plugin->descriptor = descriptor.value();
  *out = std::move(plugin);
  return accept("accepted");
}

}  // namespace

Verdict load_once(const std::filesystem::path& path, const struct stat& status,
                  std::shared_ptr<const Plugin>* out) {
  const std::pair key(status.st_dev, status.st_ino);
  {
    const std::scoped_lock lock(table().mutex);
    const auto found = table().loaded.find(key);
    if (found != table().loaded.end()) return answer(found->second, status, out);
  }
  // Without the lock: the loader runs constructors, which may be slow or come back here.
  Loaded fresh;
  fresh.status = status;
  fresh.verdict = load(path, &fresh.plugin);
  // A refused load may have left nothing mapped; it is tried again next time.
  if (fresh.verdict.rule == "load-failed") return fresh.verdict;
  const std::scoped_lock lock(table().mutex);
  return answer(table().loaded.emplace(key, std::move(fresh)).first->second, status, out);
}

}  // namespace purlin::plugin
