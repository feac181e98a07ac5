// The ranges of docs/policy.md that need only the file.
#pragma once

#include "policy/decode_value.h"
#include "policy/policy.h"

namespace purlin::policy {

inline constexpr uint64_t kKiB = 1ull << 10, kMiB = 1ull << 20, kGiB = 1ull << 30;

inline constexpr Bounds kAnySize{0, (1ull << 63) - 1, 1};
inline constexpr Bounds kStagingBytes{4 * kKiB, 1024 * kGiB, 16};
inline constexpr Bounds kPairSlots{2, 64, 1};
inline constexpr Bounds kPairBytes{kKiB, kGiB, 16};
inline constexpr Bounds kCtas{1, kMaxCtas, 1};
inline constexpr Bounds kTotalCtas{3, kMaxCtas, 1};
inline constexpr Bounds kChunk{kKiB, kGiB, 16};
inline constexpr Bounds kStages{1, 64, 1};
inline constexpr Bounds kStageBytes{256, kMiB, 16};
inline constexpr Bounds kThreads{1, 1024, 1};
inline constexpr Bounds kHostWait{0, 1'000'000'000, 1};
inline constexpr size_t kMostNameBytes = 200;

}  // namespace purlin::policy
