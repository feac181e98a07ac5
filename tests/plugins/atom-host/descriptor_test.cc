#include <dlfcn.h>
#include <doctest/doctest.h>
#include <elf.h>
#include <link.h>

#include <string>
#include <vector>

#include "plugin.h"

namespace {

using namespace purlin::atom_host_test;

// Names of the libraries that the plugin's dynamic section asks for.
std::vector<std::string> needed_libraries() {
  link_map* map = nullptr;
  REQUIRE(dlinfo(plugin_handle(), RTLD_DI_LINKMAP, &map) == 0);
  const char* strings = nullptr;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
  }
  REQUIRE(strings != nullptr);
  std::vector<std::string> names;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_NEEDED) names.emplace_back(strings + entry->d_un.d_val);
  }
  return names;
}

TEST_CASE("the descriptor says what this Atom is") {
  const purlin_atom_descriptor& d = descriptor();
  CHECK(d.struct_size == sizeof(purlin_atom_descriptor));
  CHECK(d.abi_major == PURLIN_ATOM_ABI_MAJOR);
  CHECK(d.abi_minor == PURLIN_ATOM_ABI_MINOR);
  CHECK(d.kind == PURLIN_ATOM_HOST);
  CHECK(std::string(d.name) == "host");
  CHECK(d.priority == 0);
  CHECK(d.architecture == 0);
  CHECK(d.image_count == 0);
  const uint64_t least =
      PURLIN_CAP_COPY | PURLIN_CAP_REDUCE | PURLIN_CAP_PACKETS | PURLIN_CAP_SIGNALS;
  CHECK((d.capabilities & least) == least);
  CHECK((d.capabilities & (PURLIN_CAP_SWITCH_REDUCE | PURLIN_CAP_SWITCH_STORE)) == 0);
  REQUIRE(d.host != nullptr);
  CHECK(d.host->struct_size == sizeof(purlin_host_atom));
}

TEST_CASE("the limits allow every rank, dtype and operation, and hold their own defaults") {
  const purlin_atom_limits& limits = *descriptor().limits;
  CHECK(limits.struct_size == sizeof(purlin_atom_limits));
  CHECK(limits.max_sources == PURLIN_MAX_RANKS);
  CHECK(limits.max_destinations == PURLIN_MAX_RANKS);
  for (int d = 0; d < PURLIN_DTYPE_SLOTS; ++d)
    CHECK(limits.op_mask[d] == (d < PURLIN_DTYPE_COUNT ? (1u << PURLIN_OP_COUNT) - 1 : 0u));
  CHECK(limits.min_stages <= limits.default_stages);
  CHECK(limits.default_stages <= limits.max_stages);
  CHECK(limits.min_stage_bytes <= limits.default_stage_bytes);
  CHECK(limits.default_stage_bytes <= limits.max_stage_bytes);
  CHECK(limits.min_threads == 1);
  CHECK(limits.max_threads == 1);
}

TEST_CASE("the plugin needs nothing of Purlin") {
  const std::vector<std::string> names = needed_libraries();
  CHECK(!names.empty());
  for (const std::string& name : names) CHECK(name.find("purlin") == std::string::npos);
}

}  // namespace
