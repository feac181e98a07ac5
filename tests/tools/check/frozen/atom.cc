// The source of the frozen plugins; see README.md. It is not built any more.
#include <cstring>

#include "purlin/kit/host_atom.h"

namespace {

using namespace purlin;

void copy(void* destination, const void* source, uint64_t bytes) {
  std::memcpy(destination, source, bytes);
}

constinit const purlin_atom_limits kLimits = kit::host_limits();
constinit const purlin_host_atom kTable = kit::host_table<copy>();

constexpr purlin_atom_descriptor make_descriptor() {
  purlin_atom_descriptor descriptor = kit::host_descriptor();
  descriptor.name = "frozen-1-0";
  descriptor.version = "1.0.0";
  descriptor.vendor = "the test suite";
  descriptor.description = "built once against ABI 1.0 and kept";
  descriptor.priority = -200;
  descriptor.limits = &kLimits;
  descriptor.host = &kTable;
  return descriptor;
}

constinit const purlin_atom_descriptor kDescriptor = make_descriptor();

}  // namespace

extern "C" PURLIN_ATOM_EXPORT const purlin_atom_descriptor* PURLIN_ATOM_ENTRY(void) {
  return &kDescriptor;
}
