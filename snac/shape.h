// How a layout's regions lie in a user's buffer, in bytes.
#pragma once

#include "snac/layout.h"

namespace purlin::snac {

struct Extent {
  u64 offset = 0;
  u64 bytes = 0;
};

// Uniform: regions of `part_bytes`, clipped at `total_bytes` (an AllReduce's last shares are shorter
// or empty). V forms: `counts` elements for region index i, at `displs[i]`, or one after another when
// displs is null. The arrays are read wherever the code runs: host memory on the host, device memory
// in a kernel. Owned by the caller.
struct BufferShape {
  u64 part_bytes = 0;
  u64 total_bytes = 0;
  const u64* counts = nullptr;
  const u64* displs = nullptr;
  u64 element_bytes = 1;
};

PURLIN_HD constexpr Extent region_extent(const BufferShape& shape, const Layout& layout, u32 n,
                                         u32 self, u32 peer) {
  if (shape.counts != nullptr) {
    const u32 index = region_index(layout, n, self, peer);
    Extent extent{0, shape.counts[index] * shape.element_bytes};
    if (shape.displs != nullptr) {
      extent.offset = shape.displs[index] * shape.element_bytes;
    } else {
      for (u32 i = 0; i < index; ++i) extent.offset += shape.counts[i] * shape.element_bytes;
    }
    return extent;
  }
  const u64 begin =
      smaller(region_position(layout, n, self, peer) * shape.part_bytes, shape.total_bytes);
  return Extent{begin, smaller(shape.part_bytes, shape.total_bytes - begin)};
}

// Bytes of one rank's share when `total` elements are split over n ranks: a multiple of 16 bytes, so
// that every share starts as well aligned as the buffer does.
PURLIN_HD constexpr u64 share_bytes(u64 total_elements, u32 n, u64 element_bytes) {
  return round_up(divide_up(total_elements, n) * element_bytes, 16);
}

}  // namespace purlin::snac
