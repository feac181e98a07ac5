// What the tests of SNAC hold results against.
#pragma once

#include <random>
#include <vector>

#include "snac/collectives.h"
#include "world.h"

namespace purlin::test {

std::vector<Bytes> random_buffers(snac::u32 n, snac::u64 bytes, std::mt19937_64* random);

// Output of `rank`, sums of u8; regions of `count` bytes. Empty: the rank receives nothing.
Bytes serial_result(snac::Collective collective, snac::u32 n, snac::u32 rank, snac::u32 root,
                    snac::u64 count, const std::vector<Bytes>& in);

// Whether a rank's buffers are one region of `count`, and not one for each rank.
bool one_region(snac::Collective c);

}  // namespace purlin::test
