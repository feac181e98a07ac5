// What Purlin sees of this plugin.
#include <iterator>

#include "atom_images.h"
#include "purlin/kit/cuda_descriptor.h"

namespace {

using namespace purlin;

// The least stage still holds two words of each of 16 sources for each of 30 warps.
// The usual ring fits the smallest shared memory there is, that of sm_86 and sm_89.
constinit const purlin_atom_limits kLimits =
    kit::cuda_limits({2, 16, 4}, {16 << 10, 64 << 10, 16 << 10}, {96, 1024, 320}, kit::kAroundRing);

constexpr purlin_atom_descriptor make_descriptor() {
  purlin_atom_descriptor descriptor = kit::cuda_descriptor();
  descriptor.name = "ampere";
  descriptor.version = "0.9.0";
  descriptor.vendor = "Purlin";
  descriptor.description = "sm_80 and newer: asynchronous copies into a ring of stages for each warp";
  descriptor.architecture = 80;
  descriptor.limits = &kLimits;
  descriptor.images = atom_images;
  descriptor.image_count = std::size(atom_images);
  return descriptor;
}

constinit const purlin_atom_descriptor kDescriptor = make_descriptor();

}  // namespace

extern "C" PURLIN_ATOM_EXPORT const purlin_atom_descriptor* PURLIN_ATOM_ENTRY(void) {
  return &kDescriptor;
}
