// Words that ranks, their kernels and their hosts share: CCCL's atomics at system scope under nvcc,
// the standard library's otherwise.
#pragma once

#include "snac/platform.h"

#if defined(__CUDACC__)
#include <cuda/atomic>
#else
#include <atomic>
#endif

namespace purlin::snac {

#if defined(__CUDACC__)
namespace atomics = ::cuda;
template <class T>
using SharedWord = ::cuda::atomic_ref<T, ::cuda::thread_scope_system>;
#else
namespace atomics = ::std;
template <class T>
using SharedWord = ::std::atomic_ref<T>;
#endif

template <class T>
PURLIN_HD T load_relaxed(const T& word) {
  return SharedWord<T>(const_cast<T&>(word)).load(atomics::memory_order_relaxed);
}
template <class T>
PURLIN_HD void store_relaxed(T& word, T value) {
  SharedWord<T>(word).store(value, atomics::memory_order_relaxed);
}
// What the thread wrote before is seen by whoever acquires the value.
template <class T>
PURLIN_HD void store_release(T& word, T value) {
  SharedWord<T>(word).store(value, atomics::memory_order_release);
}
// Whether this call is the one that changed the word from 0.
PURLIN_HD bool claim(u32& word) {
  return SharedWord<u32>(word).exchange(1u, atomics::memory_order_acq_rel) == 0;
}

}  // namespace purlin::snac
