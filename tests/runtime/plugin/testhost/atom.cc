// A second host Atom, made of the kit's plain parts: it walks every segment one element at a time,
// where the product's works in pieces and vectors; their bits must be the same, so that ranks of
// one communicator may mix them.
#include "purlin/kit/host_atom.h"

namespace {

namespace kit = purlin::kit;

void copy_bytes(void* destination, const void* source, uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; ++i) {
    kit::store_element(destination, i, kit::load_element<unsigned char>(source, i));
  }
}

constexpr purlin_atom_limits make_limits() {
  purlin_atom_limits limits = kit::host_limits();
  limits.min_stage_bytes = 1;
  limits.max_stage_bytes = 1u << 30;
  return limits;
}
constinit const purlin_atom_limits kLimits = make_limits();
constinit const purlin_host_atom kTable = kit::host_table<copy_bytes>();

constexpr purlin_atom_descriptor make_descriptor() {
  purlin_atom_descriptor descriptor = kit::host_descriptor();
  descriptor.name = "testhost";
  descriptor.version = "0.9.0";
  descriptor.vendor = "the test suite";
  descriptor.description = "CPU ranks, one element at a time";
  descriptor.priority = -100;  // never serves unless it is named or alone
  descriptor.limits = &kLimits;
  descriptor.host = &kTable;
  return descriptor;
}
constinit const purlin_atom_descriptor kDescriptor = make_descriptor();

}  // namespace

extern "C" PURLIN_ATOM_EXPORT const purlin_atom_descriptor* PURLIN_ATOM_ENTRY(void) {
  return &kDescriptor;
}
