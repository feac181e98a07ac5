#include "plugin/shared_object.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <array>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <utility>

#define BOOST_DLL_USE_STD_FS
#include <boost/dll/shared_library.hpp>

namespace purlin::plugin {
namespace {

namespace dll = boost::dll;

struct SpanSearch {
  const std::byte* inside;
  std::vector<MemorySpan> spans;
};

// dl_iterate_phdr callback: keeps the segments of the one object that holds `inside`.
int collect_spans(dl_phdr_info* info, std::size_t, void* data) {
  SpanSearch* search = static_cast<SpanSearch*>(data);
  std::vector<MemorySpan> spans;
  bool holds = false;
  for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_R) == 0) continue;
    MemorySpan span;
    span.begin = reinterpret_cast<const std::byte*>(info->dlpi_addr + segment.p_vaddr);
    span.size = segment.p_memsz;
    span.executable = (segment.p_flags & PF_X) != 0;
    holds |= search->inside >= span.begin && search->inside < span.begin + span.size;
    spans.push_back(span);
  }
  if (!holds) return 0;
  search->spans = std::move(spans);
  return 1;
}

constexpr const char* kNoStdException = "an object that is no std::exception";

Status threw(const char* what, const char* detail) {
  return Status(PURLIN_PLUGIN_ERROR, fmt::format("{} threw {}", what, detail));
}

// Calls `call` and turns whatever it throws into an error that keeps the exception's words.
template <class T, class Call>
Result<T> guarded(const char* what, const Call& call) {
  try {
    return Result<T>(call());
  } catch (const std::exception& error) {
    return threw(what, error.what());
  } catch (...) {
    return threw(what, kNoStdException);
  }
}

// Never unloaded, not even when the entry is missing: descriptors, and threads inside the plugin's
// code, outlive every owner. Hence the process owns each library, and never destroys the list.
dll::shared_library& new_library() {
  static std::mutex mutex;
  static auto& libraries = *new std::deque<dll::shared_library>();
  const std::lock_guard lock(mutex);
  return libraries.emplace_back();
}

}  // namespace

Result<SharedObject> load_shared_object(const std::filesystem::path& path) {
  try {
    dll::shared_library& library = new_library();
    std::error_code failed;
    library.load(path, failed, dll::load_mode::rtld_now | dll::load_mode::rtld_local);
    if (failed) {
      const char* text = dlerror();
      return Status(PURLIN_PLUGIN_ERROR,
                    fmt::format("dlopen: {}", text != nullptr ? text : failed.message().c_str()));
    }
    SharedObject object;
    object.entry = library.get<const purlin_atom_descriptor*()>(PURLIN_ATOM_ENTRY_NAME);
    SpanSearch search{reinterpret_cast<const std::byte*>(object.entry), {}};
    dl_iterate_phdr(collect_spans, &search);
    object.spans = std::move(search.spans);
    return object;
  } catch (const std::exception& error) {
    return Status(PURLIN_PLUGIN_ERROR, fmt::format("dlopen: {}", error.what()));
  } catch (...) {
    return threw("a constructor of the plugin", kNoStdException);
  }
}

Result<const purlin_atom_descriptor*> call_entry(purlin_atom_entry_fn entry) {
  return guarded<const purlin_atom_descriptor*>(PURLIN_ATOM_ENTRY_NAME, entry);
}

Result<ProbeAnswer> call_probe(purlin_atom_probe probe, const purlin_device_facts& facts) {
  return guarded<ProbeAnswer>("probe", [&] {
    std::array<char, 512> text{};
    ProbeAnswer answer;
    answer.bits = probe(&facts, text.data(), text.size());
    text.back() = '\0';  // a probe that forgets the end costs its last letter, not our stack
    answer.reason = text.data();
    return answer;
  });
}

}  // namespace purlin::plugin
