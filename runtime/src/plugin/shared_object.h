// Loading a plugin's shared object and calling into it. The only file that names Boost.DLL, and the
// only one where an exception of the loader or of a plugin can arrive; both end here as a Status.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "purlin/atom_abi.h"
#include "status/status.h"

namespace purlin::plugin {

// A span of the loaded object's memory.
struct MemorySpan {
  const std::byte* begin = nullptr;
  std::size_t size = 0;
  bool executable = false;
};

struct SharedObject {
  purlin_atom_entry_fn entry = nullptr;
  std::vector<MemorySpan> spans;  // what the object has mapped, readable all of it
};

// Loads with RTLD_NOW | RTLD_LOCAL and looks up the entry. The object is never unloaded:
// descriptors live as long as the process. Running its constructors is part of loading.
// PURLIN_PLUGIN_ERROR with the loader's own text on failure. Thread-safe. `path` is absolute.
Result<SharedObject> load_shared_object(const std::filesystem::path& path);

// Calls the entry. PURLIN_PLUGIN_ERROR if it throws; the pointer is not looked at and may be null.
Result<const purlin_atom_descriptor*> call_entry(purlin_atom_entry_fn entry);

struct ProbeAnswer {
  uint32_t bits = PURLIN_PROBE_FITS;
  std::string reason;
};
// Calls a probe with a text buffer of its own. PURLIN_PLUGIN_ERROR if it throws. A probe that
// crashes takes the process with it: that is what `purlin check`, in a process of its own, is for.
Result<ProbeAnswer> call_probe(purlin_atom_probe probe, const purlin_device_facts& facts);

}  // namespace purlin::plugin
