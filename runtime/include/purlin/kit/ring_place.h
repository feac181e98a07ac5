/* purlin/kit/ring_place.h: where a side stands in a ring of stages. Index arithmetic alone.
 *
 * Stages are used in turn; round r of a stage completes phase r of its barriers, which a wait names
 * by its parity. That is enough as long as no two sides are a whole round apart.
 */
#ifndef PURLIN_KIT_RING_PLACE_H
#define PURLIN_KIT_RING_PLACE_H

#include "purlin/kit/seam.h"

namespace purlin::kit {

struct RingPlace {
  uint32_t stage = 0;
  uint32_t parity = 0;  // of this round

  PURLIN_KIT_MEMBER void next(uint32_t stages) {
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  }
  /* The same `count` times. */
  PURLIN_KIT_MEMBER void skip(uint32_t count, uint32_t stages) {
    const uint32_t to = stage + count % stages;
    parity ^= (count / stages + (to >= stages ? 1 : 0)) & 1;
    stage = to >= stages ? to - stages : to;
  }
  /* The stage `count` places ago, count <= stages. */
  PURLIN_KIT_MEMBER uint32_t behind(uint32_t count, uint32_t stages) const {
    return stage >= count ? stage - count : stage + stages - count;
  }
};

}  // namespace purlin::kit

#endif  // PURLIN_KIT_RING_PLACE_H
