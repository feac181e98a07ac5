// What Purlin sees of this plugin.
#include <cstdio>
#include <iterator>

#include "atom_images.h"
#include "purlin/kit/cuda_descriptor.h"

namespace {

using namespace purlin;

// Words go through registers: there are no stages to choose. Two warps of a group move no bytes.
constexpr purlin_atom_limits make_limits() {
  purlin_atom_limits limits =
      kit::cuda_limits({1, 1, 1}, {16, 16, 16}, {96, 1024, 512}, kit::kSidesBytes);
  kit::set_multimem_operations(&limits);
  for (purlin_dtype dtype : {PURLIN_F8E4M3, PURLIN_F8E5M2})
    limits.op_mask[dtype] = 1u << PURLIN_SUM | 1u << PURLIN_MIN | 1u << PURLIN_MAX;
  return limits;
}
constinit const purlin_atom_limits kLimits = make_limits();

uint32_t probe(const purlin_device_facts* facts, char* reason, uint64_t reason_bytes) {
  if (facts->multicast != 0) return PURLIN_PROBE_FITS;
  std::snprintf(reason, reason_bytes, "the device has no multicast memory");
  return PURLIN_PROBE_LACKS_MULTICAST;
}

constexpr purlin_atom_descriptor make_descriptor() {
  purlin_atom_descriptor descriptor = kit::cuda_switch_descriptor();
  descriptor.name = "nvls-blackwell";
  descriptor.version = "0.9.0";
  descriptor.vendor = "Purlin";
  descriptor.description = "the family of sm_100 with NVLink switches: as nvls, and 8-bit floats";
  descriptor.priority = -100;  // beside an Atom that reduces, never in its place
  descriptor.architecture = 100;
  descriptor.limits = &kLimits;
  descriptor.images = atom_images;
  descriptor.image_count = std::size(atom_images);
  descriptor.probe = probe;
  return descriptor;
}

constinit const purlin_atom_descriptor kDescriptor = make_descriptor();

}  // namespace

extern "C" PURLIN_ATOM_EXPORT const purlin_atom_descriptor* PURLIN_ATOM_ENTRY(void) {
  return &kDescriptor;
}
