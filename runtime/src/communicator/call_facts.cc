#include "communicator/call_facts.h"

#include <fmt/format.h>

#include "communicator/buffers.h"
#include "communicator/custom.h"
#include "communicator/element.h"
#include "policy/policy.h"
#include "policy/words.h"

namespace purlin {
namespace {

// Byte counts beyond this cannot be addressed with n of them side by side.
constexpr uint64_t kMostBytes = uint64_t{1} << 62;

Status bad(const std::string& text) { return Status(PURLIN_INVALID_ARGUMENT, text); }

bool is_v(int collective) {
  return collective == PURLIN_ALL_GATHER_V || collective == PURLIN_REDUCE_SCATTER_V ||
         collective == PURLIN_ALL_TO_ALL_V;
}

bool reduces(const purlin_call& call) {
  switch (call.collective) {
    case PURLIN_REDUCE_SCATTER:
    case PURLIN_ALL_REDUCE:
    case PURLIN_REDUCE_SCATTER_V:
    case PURLIN_REDUCE:
      return true;
    case PURLIN_CUSTOM:
      return call.transformation->steps[0].reduce != 0;
    default:
      return false;
  }
}

bool rooted(const purlin_call& call) {
  switch (call.collective) {
    case PURLIN_BROADCAST:
    case PURLIN_REDUCE:
    case PURLIN_SCATTER:
    case PURLIN_GATHER:
      return true;
    case PURLIN_CUSTOM:
      for (uint32_t i = 0; i < call.transformation->step_count; ++i)
        if (call.transformation->steps[i].stagers.kind == PURLIN_RANKS_ROOT ||
            call.transformation->steps[i].consumers.kind == PURLIN_RANKS_ROOT)
          return true;
      return false;
    default:
      return false;
  }
}

Status check_enumerators(const purlin_call& call, int nranks) {
  if (call.struct_size < sizeof(purlin_call))
    return bad(fmt::format("purlin_call.struct_size is {}, expected {}: start from PURLIN_INIT",
                           call.struct_size, sizeof(purlin_call)));
  if (call.collective < 0 || call.collective >= PURLIN_COLLECTIVE_COUNT ||
      call.collective == PURLIN_SEND_RECV)
    return bad(call.collective == PURLIN_SEND_RECV
                   ? "send_recv is called through purlin_send and purlin_recv"
                   : fmt::format("collective is {}", collective_text(call.collective)));
  if (element_bytes(call.dtype) == 0)
    return bad(fmt::format("dtype is {}, expected one of purlin_dtype (0 to {})", call.dtype,
                           PURLIN_DTYPE_COUNT - 1));
  if (call.collective == PURLIN_CUSTOM && call.transformation == nullptr)
    return bad("transformation is null, and collective is PURLIN_CUSTOM");
  if (call.path < PURLIN_PATH_AUTO || call.path > PURLIN_PATH_SWITCH)
    return bad(fmt::format("path is {}, expected one of purlin_path", call.path));
  if (call.reduction < PURLIN_REDUCTION_POLICY || call.reduction > PURLIN_REDUCTION_NVLS_REQUIRED)
    return bad(fmt::format("reduction is {}, expected one of purlin_reduction", call.reduction));
  if (reduces(call)) {
    if (call.op < 0 || call.op >= PURLIN_OP_COUNT)
      return bad(fmt::format("op is {}, expected one of purlin_op (0 to {})", call.op,
                             PURLIN_OP_COUNT - 1));
    if (call.op == PURLIN_PREMUL_SUM && call.scalar == nullptr)
      return bad("scalar is null, and op is PURLIN_PREMUL_SUM, which multiplies by it");
  }
  if (rooted(call) && (call.root < 0 || call.root >= nranks))
    return bad(fmt::format("root is {}, expected a rank from 0 to {}", call.root, nranks - 1));
  return {};
}

// Sum of counts in bytes, or nothing when it overflows.
Status add_bytes(const uint64_t* counts, int n, uint64_t es, const char* name, uint64_t* total,
                 uint64_t* largest) {
  if (counts == nullptr) return bad(fmt::format("{} is null", name));
  for (int i = 0; i < n; ++i) {
    if (counts[i] > kMostBytes / es || *total > kMostBytes - counts[i] * es)
      return bad(fmt::format("{}[{}] is {} elements: the bytes of all parts exceed 2^62", name, i,
                             counts[i]));
    *total += counts[i] * es;
    *largest = std::max(*largest, counts[i] * es);
  }
  return {};
}

Status measure_v(const purlin_call& call, int n, CallFacts* facts) {
  const uint64_t es = facts->sizes.element_bytes;
  uint64_t other_total = 0;
  uint64_t other_largest = 0;
  if (call.counts_on_device != 0) {
    if (call.collective != PURLIN_ALL_GATHER_V && call.send_counts == nullptr)
      return bad("send_counts is null");
    if (call.collective != PURLIN_REDUCE_SCATTER_V && call.recv_counts == nullptr)
      return bad("recv_counts is null");
    if (call.bound_total > kMostBytes / es || call.bound_part > call.bound_total)
      return bad(fmt::format("bound_part is {} and bound_total {}: a part is at most the total, and "
                             "the total at most 2^62 bytes", call.bound_part, call.bound_total));
    facts->total_bytes = call.bound_total * es;
    facts->largest_part = call.bound_part * es;
    return {};
  }
  if (call.collective == PURLIN_ALL_GATHER_V)
    return add_bytes(call.recv_counts, n, es, "recv_counts", &facts->total_bytes, &facts->largest_part);
  PURLIN_RETURN_IF_ERROR(add_bytes(call.send_counts, n, es, "send_counts", &facts->total_bytes,
                                   &facts->largest_part));
  if (call.collective == PURLIN_ALL_TO_ALL_V)
    return add_bytes(call.recv_counts, n, es, "recv_counts", &other_total, &other_largest);
  return {};
}

Status measure(const purlin_call& call, int n, CallFacts* facts) {
  const uint64_t es = facts->sizes.element_bytes;
  if (is_v(call.collective)) return measure_v(call, n, facts);
  const uint64_t regions = call.collective == PURLIN_ALL_REDUCE ||
                                   call.collective == PURLIN_BROADCAST ||
                                   call.collective == PURLIN_REDUCE
                               ? 1
                               : static_cast<uint64_t>(n);
  if (call.count > kMostBytes / es / regions)
    return bad(fmt::format("count is {} {} elements: {} such regions exceed 2^62 bytes", call.count,
                           dtype_text(call.dtype), regions));
  facts->total_bytes = call.collective == PURLIN_BARRIER ? 0 : call.count * es * regions;
  return {};
}

}  // namespace

std::string collective_text(int collective) {
  if (collective < 0 || collective >= PURLIN_COLLECTIVE_COUNT)
    return fmt::format("{}, which is no purlin_collective", collective);
  return policy::word(static_cast<purlin_collective>(collective));
}
std::string dtype_text(int dtype) {
  if (element_bytes(dtype) == 0) return fmt::format("{}, which is no purlin_dtype", dtype);
  return policy::word(static_cast<purlin_dtype>(dtype));
}
std::string op_text(int op) {
  if (op < 0 || op >= PURLIN_OP_COUNT) return fmt::format("{}, which is no purlin_op", op);
  return policy::word(static_cast<purlin_op>(op));
}

Result<CallFacts> check_call(const purlin_call& call, int nranks, int rank) {
  PURLIN_RETURN_IF_ERROR(check_enumerators(call, nranks));
  CallFacts facts;
  facts.call = &call;
  facts.collective = static_cast<snac::Collective>(call.collective);
  facts.reduces = reduces(call);
  facts.rooted = rooted(call);
  facts.sizes = {element_bytes(call.dtype), call.collective == PURLIN_BARRIER ? 0 : call.count,
                 call.send_counts, call.send_displs, call.recv_counts, call.recv_displs};
  PURLIN_RETURN_IF_ERROR(measure(call, nranks, &facts));
  if (call.collective == PURLIN_CUSTOM) {
    auto custom = custom_transformation(*call.transformation, nranks);
    if (!custom) return custom.status();
    facts.custom = *custom;
    const uint64_t parts = snac::region_count(facts.custom.steps[1].input, static_cast<uint32_t>(nranks));
    if (facts.custom.step_count == 2 && call.count % parts != 0)
      return bad(fmt::format("count is {}: step 2 of {} splits a share into {} equal regions, so count "
                             "must be a multiple of that", call.count, call.transformation->name, parts));
  }
  PURLIN_RETURN_IF_ERROR(check_buffers(&facts, nranks, rank));
  return facts;
}

}  // namespace purlin
