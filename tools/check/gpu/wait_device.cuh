// Waits, flags and time of the kernels of `purlin check`. Nothing of the Atom under test is used.
#pragma once

namespace purlin::tools::check {

using u64 = unsigned long long;

static __device__ __forceinline__ u64 now_ns() {
  u64 time;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
  return time;
}
static __device__ __forceinline__ void pass_ns(u64 ns) {
  for (const u64 begin = now_ns(); now_ns() - begin < ns;) {
  }
}

// Release and acquire at system scope, by fences.
static __device__ __forceinline__ u64 acquire_word(const void* word) {
  const u64 value = *static_cast<const volatile u64*>(word);
  __threadfence_system();
  return value;
}
static __device__ __forceinline__ void release_word(void* word, u64 value) {
  __threadfence_system();
  *static_cast<volatile u64*>(word) = value;
}

// Whether the word reached `value` before `deadline`.
static __device__ __forceinline__ bool await_word(const void* word, u64 value, u64 deadline) {
  while (acquire_word(word) < value)
    if (now_ns() > deadline) return false;
  return true;
}

}  // namespace purlin::tools::check
