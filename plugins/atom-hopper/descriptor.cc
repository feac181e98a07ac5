// What Purlin sees of this plugin.
#include <iterator>

#include "atom_images.h"
#include "purlin/kit/cuda_descriptor.h"

namespace {

using namespace purlin;

// The least stage holds two granules of each of 16 sources. Four warps of a group process no bytes.
constinit const purlin_atom_limits kLimits =
    kit::cuda_limits({2, 16, 8}, {4 << 10, 64 << 10, 16 << 10}, {160, 1024, 384}, kit::kAroundRing);

constexpr purlin_atom_descriptor make_descriptor() {
  purlin_atom_descriptor descriptor = kit::cuda_descriptor();
  descriptor.name = "hopper";
  descriptor.version = "0.9.0";
  descriptor.vendor = "Purlin";
  descriptor.description = "sm_90 and newer: bulk copies (TMA) into a ring of stages and straight out of it";
  descriptor.architecture = 90;
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
