// Twin of the kit's header for the emulated CTA.
#pragma once

#include "kit/pipelines/copies.h"
#include "purlin/kit/shared_device.cuh"

namespace purlin::kit {

static inline void init_mbarrier(uint32_t barrier, uint32_t arrivals) {
  emulator::init_mbarrier(barrier, arrivals);
}
static inline void fence_mbarrier_init() {}
static inline void arrive_mbarrier(uint32_t barrier, uint32_t count) {
  emulator::arrive_mbarrier(barrier, count, 0);
}
static inline void arrive_expecting(uint32_t barrier, uint32_t bytes) {
  emulator::arrive_mbarrier(barrier, 1, bytes);
}
static inline bool try_mbarrier(uint32_t barrier, uint32_t parity) {
  return emulator::mbarrier_complete(barrier, parity);
}
static inline bool test_mbarrier(uint32_t barrier, uint32_t parity) {
  return emulator::mbarrier_complete(barrier, parity);
}
static inline void fence_before_bulk_global() {}
static inline void bulk_load(uint32_t shared, uint64_t global, uint32_t bytes, uint32_t barrier) {
  emulator::bulk_load(shared, global, bytes, barrier);
}
static inline void bulk_store(uint64_t global, uint32_t shared, uint32_t bytes) {
  emulator::bulk_store(global, shared, bytes);
}
static inline void commit_bulk() { emulator::commit_bulk(); }
template <int kLeft>
static inline void await_bulk_reads() {
  emulator::await_bulk(kLeft, true);
}
template <int kLeft>
static inline void await_bulk_writes() {
  emulator::await_bulk(kLeft, false);
}

}  // namespace purlin::kit
