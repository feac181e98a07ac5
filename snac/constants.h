// A Form as numbers: what a device program is specialized on. The host encodes them as link-time
// constants named form_steps, form_flags and form_sources; device code decodes them.
#pragma once

#include "snac/call.h"

namespace purlin::snac {

PURLIN_HD constexpr u64 encode_flags(const Form& form) {
  return u64{form.reduces} | u64{form.shared[0]} << 1 | u64{form.shared[1]} << 2 |
         u64{form.parts} << 3 | u64{form.everyone} << 4 | u64{form.push[0]} << 5 |
         u64{form.push[1]} << 6 | u64{form.listed} << 7 | u64{form.windows} << 8;
}

PURLIN_HD constexpr Form decode_form(u64 steps, u64 flags, u64 sources) {
  Form form;
  form.steps = static_cast<u32>(steps);
  form.reduces = (flags & 1) != 0;
  form.shared[0] = (flags >> 1 & 1) != 0;
  form.shared[1] = (flags >> 2 & 1) != 0;
  form.parts = (flags >> 3 & 1) != 0;
  form.everyone = (flags >> 4 & 1) != 0;
  form.push[0] = (flags >> 5 & 1) != 0;
  form.push[1] = (flags >> 6 & 1) != 0;
  form.listed = (flags >> 7 & 1) != 0;
  form.windows = (flags >> 8 & 1) != 0;
  form.sources = sources;
  return form;
}

}  // namespace purlin::snac
