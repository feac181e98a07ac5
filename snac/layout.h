// Layouts: which region of a rank's buffer belongs to which peer. Everything else about a
// collective (who waits for whom, which bytes go where) is derived from two of them.
#pragma once

#include "snac/platform.h"

namespace purlin::snac {

enum class LayoutKind : u32 {
  kPacked = 0,     // one region, the whole buffer, whoever the peer is
  kScattered = 1,  // a region for each member; region p is rank p's share, on every rank alike
  kTransposed = 2  // a region for each member; region p goes to (or came from) rank p
};

// Members are ranks, or distances (peer - self mod n) if `relative`. In ascending order of members,
// region i lies at position (i + rotate) mod m; positions are `stride` region lengths apart.
struct Layout {
  LayoutKind kind = LayoutKind::kPacked;
  bool relative = false;
  u64 members = 0;  // bit mask; 0 means all
  u32 rotate = 0;
  u32 stride = 1;
};

PURLIN_HD constexpr u64 all_ranks(u32 n) { return n >= 64 ? ~u64{0} : (u64{1} << n) - 1; }

PURLIN_HD constexpr u64 layout_members(const Layout& layout, u32 n) {
  return layout.members == 0 ? all_ranks(n) : layout.members & all_ranks(n);
}

// Which member `peer` is in the buffer of `self`.
PURLIN_HD constexpr u32 member_of(const Layout& layout, u32 n, u32 self, u32 peer) {
  if (!layout.relative) return peer;
  return peer >= self ? peer - self : peer + n - self;
}

// Whether the buffer of `self` has a region for `peer`.
PURLIN_HD constexpr bool has_region(const Layout& layout, u32 n, u32 self, u32 peer) {
  if (layout.kind == LayoutKind::kPacked) return true;
  return (layout_members(layout, n) >> member_of(layout, n, self, peer)) & 1;
}

PURLIN_HD constexpr u32 region_count(const Layout& layout, u32 n) {
  return layout.kind == LayoutKind::kPacked ? 1 : count_bits(layout_members(layout, n));
}

// Index of the region for `peer` among the regions of `self`, in ascending order of members. For V
// forms this is the index into counts and displacements.
PURLIN_HD constexpr u32 region_index(const Layout& layout, u32 n, u32 self, u32 peer) {
  if (layout.kind == LayoutKind::kPacked) return 0;
  const u32 member = member_of(layout, n, self, peer);
  if (layout.members == 0) return member;
  return count_bits(layout_members(layout, n) & ((u64{1} << member) - 1));
}

// Where that region lies, counted in region lengths.
PURLIN_HD constexpr u32 region_position(const Layout& layout, u32 n, u32 self, u32 peer) {
  if (layout.kind == LayoutKind::kPacked) return 0;
  const u32 m = region_count(layout, n);
  return (region_index(layout, n, self, peer) + layout.rotate) % m *
         (layout.stride == 0 ? 1 : layout.stride);
}

// Region lengths that the whole buffer spans, gaps included.
PURLIN_HD constexpr u32 span_in_regions(const Layout& layout, u32 n) {
  if (layout.kind == LayoutKind::kPacked) return 1;
  const u32 m = region_count(layout, n);
  return m == 0 ? 0 : (m - 1) * (layout.stride == 0 ? 1 : layout.stride) + 1;
}

}  // namespace purlin::snac
