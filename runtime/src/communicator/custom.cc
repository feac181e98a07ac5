#include "communicator/custom.h"

#include <fmt/format.h>

#include "snac/plan.h"

namespace purlin {
namespace {

bool valid_name(const char* name) {
  if (name == nullptr || *name == 0) return false;
  size_t length = 0;
  for (; name[length] != 0; ++length) {
    const char c = name[length];
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_') || length >= 32) return false;
  }
  return true;
}

Status convert(const purlin_layout& from, const std::string& where, snac::Layout* to) {
  if (from.kind > PURLIN_LAYOUT_TRANSPOSED)
    return Status(PURLIN_INVALID_ARGUMENT,
                  fmt::format("{}.kind is {}, expected one of purlin_layout_kind", where, from.kind));
  if (from.relative > 1)
    return Status(PURLIN_INVALID_ARGUMENT,
                  fmt::format("{}.relative is {}, expected 0 or 1", where, from.relative));
  to->kind = static_cast<snac::LayoutKind>(from.kind);
  to->relative = from.relative != 0;
  to->members = from.members;
  to->rotate = from.rotate;
  to->stride = from.stride == 0 ? 1 : from.stride;
  return {};
}

Status convert(const purlin_rank_set& from, const std::string& where, snac::RankSet* to) {
  if (from.kind > PURLIN_RANKS_MASK)
    return Status(PURLIN_INVALID_ARGUMENT,
                  fmt::format("{}.kind is {}, expected one of purlin_rank_set_kind", where, from.kind));
  to->kind = static_cast<snac::RankSetKind>(from.kind);
  to->mask = from.mask;
  return {};
}

}  // namespace

Result<snac::Transformation> custom_transformation(const purlin_transformation& t, int nranks) {
  if (t.struct_size < sizeof(purlin_transformation))
    return Status(PURLIN_INVALID_ARGUMENT,
                  fmt::format("purlin_transformation.struct_size is {}, expected {}", t.struct_size,
                              sizeof(purlin_transformation)));
  if (!valid_name(t.name))
    return Status(PURLIN_INVALID_ARGUMENT,
                  "purlin_transformation.name must be 1 to 32 of a-z, 0-9 and _");
  if (t.step_count < 1 || t.step_count > 2)
    return Status(PURLIN_INVALID_ARGUMENT,
                  fmt::format("{}.step_count is {}, expected 1 or 2", t.name, t.step_count));
  snac::Transformation result;
  result.step_count = t.step_count;
  for (uint32_t i = 0; i < t.step_count; ++i) {
    const std::string where = fmt::format("{}.steps[{}]", t.name, i);
    snac::Step& step = result.steps[i];
    PURLIN_RETURN_IF_ERROR(convert(t.steps[i].input, where + ".input", &step.input));
    PURLIN_RETURN_IF_ERROR(convert(t.steps[i].output, where + ".output", &step.output));
    PURLIN_RETURN_IF_ERROR(convert(t.steps[i].stagers, where + ".stagers", &step.stagers));
    PURLIN_RETURN_IF_ERROR(convert(t.steps[i].consumers, where + ".consumers", &step.consumers));
    step.consume = t.steps[i].reduce != 0 ? snac::Consume::kReduce : snac::Consume::kCopy;
  }
  const std::string why = snac::refuse_transformation(result, static_cast<snac::u32>(nranks));
  if (!why.empty()) return Status(PURLIN_UNSUPPORTED, fmt::format("{}: {}", t.name, why));
  return result;
}

}  // namespace purlin
