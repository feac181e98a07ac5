// What Purlin sees of the Atom for GPUs.
#include <iterator>

#include "atom_images.h"  // core.cu and the reduction fragments, made by purlin_add_atom
#include "purlin/kit/cuda_descriptor.h"

namespace {

using namespace purlin;

// {least, most, usual} of stages, bytes of a stage and threads; shared memory beyond the stages.
constinit const purlin_atom_limits kLimits =
    kit::cuda_limits({1, 1, 1}, {16, 16, 16}, {96, 1024, 384}, kit::kSidesBytes);

constexpr purlin_atom_descriptor make_descriptor() {
  purlin_atom_descriptor descriptor = kit::cuda_descriptor();
  descriptor.name = "vendor";
  descriptor.version = "1.0.0";
  descriptor.vendor = "Somebody";
  descriptor.description = "an example: GPUs from sm_80, through registers";
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
