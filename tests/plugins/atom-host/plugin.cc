#include "plugin.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace purlin::atom_host_test {

void* plugin_handle() {
  static void* const handle = [] {
    void* opened = dlopen(PURLIN_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) {
      std::fprintf(stderr, "cannot open %s: %s; build target atom-host\n", PURLIN_TEST_PLUGIN,
                   dlerror());
      std::exit(2);
    }
    return opened;
  }();
  return handle;
}

const purlin_atom_descriptor& descriptor() {
  static const purlin_atom_descriptor* const found = [] {
    void* symbol = dlsym(plugin_handle(), PURLIN_ATOM_ENTRY_NAME);
    if (symbol == nullptr) {
      std::fprintf(stderr, "%s exports no %s\n", PURLIN_TEST_PLUGIN, PURLIN_ATOM_ENTRY_NAME);
      std::exit(2);
    }
    return reinterpret_cast<purlin_atom_entry_fn>(symbol)();
  }();
  return *found;
}

purlin_constants constants_of(purlin_dtype dtype, purlin_op op, uint32_t nranks) {
  purlin_constants constants{};
  constants.struct_size = sizeof constants;
  constants.nranks = nranks;
  constants.dtype = dtype;
  constants.op = op;
  constants.stages = descriptor().limits->default_stages;
  constants.stage_bytes = descriptor().limits->default_stage_bytes;
  constants.threads = 1;
  return constants;
}

}  // namespace purlin::atom_host_test
