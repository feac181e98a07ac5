// The program of a collective on a CUDA device: SNAC's kernel of a protocol, the Atom's images and the
// constants that make them one collective.
#pragma once

#include <span>
#include <string>

#include "program/image.h"
#include "program/request.h"
#include "snac/call.h"
#include "status/status.h"

namespace purlin {

enum class ProtocolKernel { kLatency, kThroughput, kPairs, kSwitch };

// The kernel's name in the cubin. Its one argument is snac::CallParamsOf<kDeviceRanks>, by value;
// kPairs takes DevicePairParams of pair_params.h.
const char* kernel_name(ProtocolKernel kernel);
inline constexpr uint32_t kDeviceRanks = 16;

// What the code is specialized on. Everything else about a call is the kernel's argument.
struct ProtocolConstants {
  snac::Form form;
  uint32_t nranks = 0;             // 1 … kDeviceRanks
  purlin_dtype dtype = PURLIN_U8;  // matters to forms that reduce, and to PURLIN_PREMUL_SUM
  purlin_op op = PURLIN_SUM;
  bool universal = false;    // of forms that reduce: dtype and op are the launch's, see universal_of
  uint32_t stages = 1;       // of the Atom's pipeline; the latency kernel has none
  uint32_t stage_bytes = 16;
  uint32_t threads = 0;      // of a CTA, and of the one group in it
};

// Whether the program combines or scales elements, so that its dtype and op matter.
bool computes(const ProtocolConstants& constants);

// Threads of a CTA of an Atom's pipeline, where no policy says: the Atom's own number, or fewer for many
// sources, within its limits.
uint32_t usual_threads(const purlin_atom_limits& limits, uint32_t sources);

// Threads of a CTA of packets in a program of so many ranks: more would leave too few registers. `much`:
// its reductions scale each source, or are of any type.
uint32_t latency_threads(uint32_t nranks, bool much);

// The program that serves the same calls, and those of every other dtype and operation: both are in the
// kernel's argument. Bits and wire are the same; it is slower. Forms that copy have none.
ProtocolConstants universal_of(ProtocolKernel kernel, const ProtocolConstants& constants);

// What the kernel's code reads of them, the rest made equal: constants that the code cannot tell apart
// are one program. Idempotent.
ProtocolConstants constants_in_code(ProtocolKernel kernel, const ProtocolConstants& constants);

// Shared memory of the kernel's own, at most: what a universal program reduces, the flows of a V form whose
// counts it reads, the places that peers offer.
uint32_t static_shared_bytes(const ProtocolConstants& constants);
// Dynamic shared memory of a launch of the throughput kernel; the latency kernel takes none.
uint32_t dynamic_shared_bytes(const purlin_atom_limits& limits, const ProtocolConstants& constants);

// SNAC's image of the kernel. PURLIN_LINK_ERROR in a build without a CUDA toolkit.
Result<DeviceImage> protocol_image(ProtocolKernel kernel);

// The request for the program store, equal for constants that constants_in_code makes equal. `atom` are
// the Atom's images, all of them; programs without arithmetic take no reduction fragment, universal ones
// take this library's. The latency
// kernel starts dependents early on cc 90 and newer.
// PURLIN_INVALID_ARGUMENT for constants beyond the device code's limits; PURLIN_LINK_ERROR when no
// image of the Atom fits.
Result<ProgramRequest> protocol_request(ProtocolKernel kernel, const ProtocolConstants& constants,
                                        uint32_t cc, std::span<const DeviceImage> atom);

}  // namespace purlin
