// What Purlin sees of this plugin.
#include <iterator>

#include "atom_images.h"
#include "purlin/kit/cuda_descriptor.h"

namespace {

using namespace purlin;

constinit const purlin_atom_limits kLimits = kit::cuda_switch_limits(true);

constexpr purlin_atom_descriptor make_descriptor() {
  purlin_atom_descriptor descriptor = kit::cuda_switch_descriptor();
  descriptor.name = "nvls-blackwell";
  descriptor.version = "0.9.0";
  descriptor.vendor = "Purlin";
  descriptor.description = "the family of sm_100 with NVLink switches: as nvls, and 8-bit floats";
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
