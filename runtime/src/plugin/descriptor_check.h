// Is what a plugin's entry returned a descriptor that this library can serve?
#pragma once

#include <cstdint>

#include "plugin/plugin_memory.h"
#include "plugin/verdict.h"
#include "purlin/atom_abi.h"

namespace purlin::plugin {

// Sizes of the structs in ABI 1.0; a plugin's struct_size may be larger, never smaller.
inline constexpr uint32_t kDescriptorSize = 104;
inline constexpr uint32_t kHostAtomSize = 64;
inline constexpr uint32_t kLimitsSize = 184;
inline constexpr uint32_t kImageSize = 56;
static_assert(PURLIN_ATOM_ABI_MINOR > 0 || (sizeof(purlin_atom_descriptor) == kDescriptorSize &&
                                            sizeof(purlin_host_atom) == kHostAtomSize &&
                                            sizeof(purlin_atom_limits) == kLimitsSize &&
                                            sizeof(purlin_atom_image) == kImageSize),
              "the sizes of ABI 1.0");

// Checks everything that does not depend on a device: versions, sizes, pointers, texts, limits and
// the table or images. Reads only through `memory`, calls nothing. Pure.
Verdict check_descriptor(const purlin_atom_descriptor* descriptor, const PluginMemory& memory);

// Whether a descriptor of this major version is of a later minor: what it has beyond ours is left
// alone instead of refused.
bool is_newer(const purlin_atom_descriptor& descriptor);

// Image `index` of a checked CUDA Atom. The array's stride is the plugin's own struct_size, which
// is larger than ours when the plugin is newer: never index `images` directly.
const purlin_atom_image* image_at(const purlin_atom_descriptor& descriptor, uint64_t index);

}  // namespace purlin::plugin
