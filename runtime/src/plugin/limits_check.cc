#include "plugin/limits_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "plugin/descriptor_check.h"

namespace purlin::plugin {
namespace {

constexpr uint32_t kOperations = (1u << PURLIN_OP_COUNT) - 1;

Verdict invalid(std::string what) {
  return refuse("limits-invalid", std::move(what), "report it to the plugin's author");
}

// A range with its default. `unit`: every value is a multiple of it.
Verdict check_range(const char* name, uint32_t least, uint32_t most, uint32_t usual, uint32_t unit,
                    uint32_t ceiling) {
  if (least < 1 || least > usual || usual > most || most > ceiling) {
    return invalid(
        fmt::format("{}: minimum {}, default {}, maximum {} are not in order within 1 … {}", name,
                    least, usual, most, ceiling));
  }
  if (least % unit != 0 || most % unit != 0 || usual % unit != 0) {
    return invalid(fmt::format("{}: minimum {}, default {}, maximum {} are not multiples of {}",
                               name, least, usual, most, unit));
  }
  return accept("accepted");
}

Verdict check_most(const char* name, uint32_t value) {
  if (value >= 1 && value <= PURLIN_MAX_RANKS) return accept("accepted");
  return invalid(fmt::format("{} is {}; it must lie in 1 … {}", name, value, PURLIN_MAX_RANKS));
}

// What this ABI does not define is 0, so that a later minor can give it a meaning.
Verdict check_undefined(const purlin_atom_limits& limits) {
  if (limits.reserved != 0) {
    return refuse("reserved-used",
                  fmt::format("reserved of limits is {:#x}; in ABI {}.{} it is reserved and 0",
                              limits.reserved, PURLIN_ATOM_ABI_MAJOR, PURLIN_ATOM_ABI_MINOR),
                  "report it to the plugin's author");
  }
  for (uint32_t dtype = 0; dtype < PURLIN_DTYPE_SLOTS; ++dtype) {
    const uint32_t unknown =
        limits.op_mask[dtype] & ~(dtype < PURLIN_DTYPE_COUNT ? kOperations : 0u);
    if (unknown != 0)
      return invalid(fmt::format("op_mask[{}] has bits {:#x}, which ABI {}.{} does not define",
                                 dtype, unknown, PURLIN_ATOM_ABI_MAJOR, PURLIN_ATOM_ABI_MINOR));
  }
  return accept("accepted");
}

}  // namespace

Verdict check_limits(const purlin_atom_descriptor& descriptor, const PluginMemory& memory) {
  const purlin_atom_limits* limits = descriptor.limits;
  const bool begins = memory.holds_struct(limits, sizeof(uint32_t));
  if (begins && limits->struct_size < kLimitsSize) {
    return refuse("descriptor-size",
                  fmt::format("limits has struct_size {}, that of ABI {}.0 has {}",
                              limits->struct_size, PURLIN_ATOM_ABI_MAJOR, kLimitsSize),
                  "rebuild the plugin against this version's SDK");
  }
  if (!begins || !memory.holds_struct(limits, limits->struct_size)) {
    return refuse("descriptor-memory", "limits is null, misaligned, or points outside the plugin",
                  "report it to the plugin's author");
  }
  const bool cuda = descriptor.kind == PURLIN_ATOM_CUDA;
  for (const Verdict& verdict :
       {check_most("max_sources", limits->max_sources),
        check_most("max_destinations", limits->max_destinations),
        check_range("stages", limits->min_stages, limits->max_stages, limits->default_stages, 1,
                    4096),
        check_range("stage_bytes", limits->min_stage_bytes, limits->max_stage_bytes,
                    limits->default_stage_bytes, cuda ? 16 : 1, 1u << 30),
        check_range("threads", limits->min_threads, limits->max_threads, limits->default_threads,
                    cuda ? 32 : 1, cuda ? 1024 : 65536)}) {
    if (!verdict.accepted) return verdict;
  }
  if (!is_newer(descriptor)) {
    if (Verdict verdict = check_undefined(*limits); !verdict.accepted) return verdict;
  }
  const bool reduces = std::any_of(limits->op_mask, limits->op_mask + PURLIN_DTYPE_COUNT,
                                   [](uint32_t mask) { return (mask & kOperations) != 0; });
  if ((descriptor.capabilities & PURLIN_CAP_REDUCE) != 0 && !reduces) {
    return invalid("op_mask is empty, yet the capability to reduce is declared");
  }
  return accept("accepted");
}

}  // namespace purlin::plugin
