#include "nccl/reductions.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "nccl/driver.h"
#include "nccl/errors.h"
#include "nccl/fallback.h"
#include "nccl/group.h"

namespace purlin::nccl {
namespace {

// Sign, exponent and fraction of a small floating type.
struct Format {
  int exponent_bits, fraction_bits;
  bool infinities;  // without them only all ones is no number
};

float widen(uint32_t bits, Format format) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const uint32_t fraction = bits & ((1u << format.fraction_bits) - 1);
  const uint32_t top = (1u << format.exponent_bits) - 1;
  const uint32_t exponent = bits >> format.fraction_bits & top;
  const bool negative = (bits >> (format.exponent_bits + format.fraction_bits) & 1) != 0;
  float value = 0;
  if (exponent == top && format.infinities)
    value = fraction == 0 ? std::numeric_limits<float>::infinity()
                          : std::numeric_limits<float>::quiet_NaN();
  else if (exponent == top && fraction == (1u << format.fraction_bits) - 1 && !format.infinities)
    value = std::numeric_limits<float>::quiet_NaN();
  else if (exponent == 0)
    value = std::ldexp(static_cast<float>(fraction), 1 - bias - format.fraction_bits);
  else
    value = std::ldexp(static_cast<float>(fraction | 1u << format.fraction_bits),
                       static_cast<int>(exponent) - bias - format.fraction_bits);
  return negative ? -value : value;
}

Result unknown_op(int op) {
  return fail(kInvalidArgument, "op is " + std::to_string(op) +
                                    ", which is neither a built-in reduction nor one that was made "
                                    "for this communicator and not destroyed");
}

}  // namespace

size_t element_bytes(Dtype dtype) {
  switch (dtype) {
    case PURLIN_I8:
    case PURLIN_U8:
    case PURLIN_F8E4M3:
    case PURLIN_F8E5M2:
      return 1;
    case PURLIN_F16:
    case PURLIN_BF16:
      return 2;
    case PURLIN_I32:
    case PURLIN_U32:
    case PURLIN_F32:
      return 4;
    case PURLIN_I64:
    case PURLIN_U64:
    case PURLIN_F64:
      return 8;
    default:
      return 0;
  }
}

uint64_t accumulation_bits(Dtype dtype, const void* value) {
  uint64_t bits = 0;
  std::memcpy(&bits, value, element_bytes(dtype));
  const auto small = static_cast<uint32_t>(bits);
  switch (dtype) {
    case PURLIN_F16:
      return std::bit_cast<uint32_t>(widen(small, {5, 10, true}));
    case PURLIN_BF16:
      return small << 16;
    case PURLIN_F8E4M3:
      return std::bit_cast<uint32_t>(widen(small, {4, 3, false}));
    case PURLIN_F8E5M2:
      return std::bit_cast<uint32_t>(widen(small, {5, 2, true}));
    default:
      return bits;
  }
}

Result find_reduction(Comm& comm, int op, Dtype dtype, Stream stream, Reduction* out) {
  constexpr purlin_op kBuiltIn[] = {PURLIN_SUM, PURLIN_PROD, PURLIN_MAX, PURLIN_MIN, PURLIN_AVG};
  if (op < 0) return unknown_op(op);
  if (op < kFirstOwnOp) {
    out->op = kBuiltIn[op];
    return kSuccess;
  }
  ScaledSum sum;
  {
    const std::lock_guard lock(comm.mutex);
    const auto found = comm.ops.find(op);
    if (found == comm.ops.end()) return unknown_op(op);
    sum = found->second;
  }
  if (sum.dtype != dtype)
    return fail(kInvalidArgument, "op " + std::to_string(op) + " was made for type " +
                                      std::to_string(sum.dtype) + ", the call's is " +
                                      std::to_string(dtype));
  out->op = PURLIN_PREMUL_SUM;
  out->scalar = sum.bits;
  if (sum.on_device == nullptr) return kSuccess;
  uint64_t element = 0;
  if (comm.device < 0) {
    std::memcpy(&element, sum.on_device, element_bytes(dtype));
  } else {
    const Result read = read_after(stream, sum.on_device, element_bytes(dtype), &element);
    if (read != kSuccess) return read;
  }
  out->scalar = accumulation_bits(dtype, &element);
  return kSuccess;
}

}  // namespace purlin::nccl

using namespace purlin::nccl;

PURLIN_NCCL_API(Result, RedOpCreatePreMulSum,
                (int* op, void* scalar, Dtype dtype, ScalarPlace place, CommHandle handle)) {
  Result why = kSuccess;
  const auto comm = find_ready(handle, &why);
  if (!comm) return noted(why);
  if (op == nullptr) return noted(fail(kInvalidArgument, "op is null"));
  if (comm->real != nullptr)
    return comm->real->passed(
        comm->real->RedOpCreatePreMulSum(op, scalar, dtype, place, comm->real_comm));
  if (scalar == nullptr) return noted(fail(kInvalidArgument, "scalar is null"));
  if (!is_dtype(dtype))
    return noted(
        fail(kInvalidArgument, "datatype is " + std::to_string(dtype) + ", expected 0 to 11"));
  if (place != kScalarOnDevice && place != kScalarOnHost)
    return noted(
        fail(kInvalidArgument, "residence is " + std::to_string(place) + ", expected 0 or 1"));
  ScaledSum sum;
  sum.dtype = dtype;
  if (place == kScalarOnHost)
    sum.bits = accumulation_bits(dtype, scalar);
  else
    sum.on_device = scalar;
  const std::lock_guard lock(comm->mutex);
  *op = comm->next_op++;
  comm->ops.emplace(*op, sum);
  return kSuccess;
}

PURLIN_NCCL_API(Result, RedOpDestroy, (int op, CommHandle handle)) {
  Result why = kSuccess;
  const auto comm = find(handle, &why);
  if (!comm) return noted(why);
  if (comm->real != nullptr)
    return comm->real->passed(comm->real->RedOpDestroy(op, comm->real_comm));
  if (op >= 0 && op < kFirstOwnOp)
    return noted(fail(kInvalidArgument, "op " + std::to_string(op) + " is built in"));
  const std::lock_guard lock(comm->mutex);
  return comm->ops.erase(op) == 1 ? kSuccess : noted(unknown_op(op));
}
