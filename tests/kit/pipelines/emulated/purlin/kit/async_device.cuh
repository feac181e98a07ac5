// Twin of the kit's header for the emulated CTA.
#pragma once

#include "kit/pipelines/copies.h"
#include "purlin/kit/shared_device.cuh"

namespace purlin::kit {

static inline void copy_async16(uint32_t shared, uint64_t global) {
  emulator::copy_word(shared, global);
}
static inline void commit_copies() { emulator::commit_words(); }
template <int kLeft>
static inline void await_copies() {
  emulator::await_words(kLeft);
}
static inline void await_oldest_copy(uint32_t groups) { emulator::await_words(groups - 1); }

}  // namespace purlin::kit
