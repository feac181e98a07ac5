// Groups of asynchronous copies of the emulated CTA's threads, and its mbarriers.
#pragma once

#include <cstdint>

namespace purlin::emulator {

// Forgets what an earlier CTA left.
void reset_copies();

// cp.async: one word, of this thread's open group.
void copy_word(uint32_t shared, uint64_t global);
void commit_words();
void await_words(uint32_t left);

void init_mbarrier(uint32_t barrier, uint32_t arrivals);
void arrive_mbarrier(uint32_t barrier, uint32_t count, uint32_t bytes);
bool mbarrier_complete(uint32_t barrier, uint32_t parity);

// Bulk copies. Those of a thread's open group are read, then written, at random later times.
void bulk_load(uint32_t shared, uint64_t global, uint32_t bytes, uint32_t barrier);
void bulk_store(uint64_t global, uint32_t shared, uint32_t bytes);
void commit_bulk();
void await_bulk(uint32_t left, bool reads_only);

}  // namespace purlin::emulator
