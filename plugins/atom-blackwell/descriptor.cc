// What Purlin sees of this plugin.
#include <iterator>

#include "atom_images.h"
#include "purlin/kit/cuda_descriptor.h"

namespace {

using namespace purlin;

// As for Hopper; more stages, since more bytes are under way on faster links.
constinit const purlin_atom_limits kLimits =
    kit::cuda_limits({2, 16, 12}, {4 << 10, 64 << 10, 16 << 10}, {160, 1024, 384}, kit::kAroundRing);

constexpr purlin_atom_descriptor make_descriptor() {
  purlin_atom_descriptor descriptor = kit::cuda_descriptor();
  descriptor.name = "blackwell";
  descriptor.version = "0.9.0";
  descriptor.vendor = "Purlin";
  descriptor.description = "sm_100 and newer: bulk copies (TMA) into a deep ring, 256-bit stores";
  descriptor.architecture = 100;
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
