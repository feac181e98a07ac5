// What Purlin sees of this plugin.
#include <iterator>

#include "atom_images.h"
#include "purlin/kit/cuda_descriptor.h"

namespace {

using namespace purlin;

// Words go through registers: there are no stages to choose. Two warps of a group move no bytes.
// With 384 threads a thread has the registers for sums of 16 sources.
constinit const purlin_atom_limits kLimits =
    kit::cuda_limits({1, 1, 1}, {16, 16, 16}, {96, 1024, 384}, kit::kSidesBytes);

constexpr purlin_atom_descriptor make_descriptor() {
  purlin_atom_descriptor descriptor = kit::cuda_descriptor();
  descriptor.name = "generic";
  descriptor.version = "0.9.0";
  descriptor.vendor = "Purlin";
  descriptor.description = "any GPU from sm_75: 16-byte loads and stores through registers";
  descriptor.architecture = 75;
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
