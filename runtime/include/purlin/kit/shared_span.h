/* purlin/kit/shared_span.h: how the kit's pipelines use a group's shared memory, in bytes. A descriptor
 * declares as shared_bytes_fixed what they need beyond their stages.
 */
#ifndef PURLIN_KIT_SHARED_SPAN_H
#define PURLIN_KIT_SHARED_SPAN_H

#include "purlin/kit/seam.h"

namespace purlin::kit {

inline constexpr uint32_t kSidesBytes = 5120;  /* the sides' words and the granted segments */
inline constexpr uint32_t kBeforeRing = 5632;  /* those and barriers; the ring is aligned to 128 */
inline constexpr uint32_t kBehindRing = 128;   /* a window may reach one word beyond the last piece */
inline constexpr uint32_t kAroundRing = kBeforeRing + kBehindRing;

}  // namespace purlin::kit

#endif  // PURLIN_KIT_SHARED_SPAN_H
