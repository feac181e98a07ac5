// Copying with plain vector loads and stores, to be included like kernel_loops.h by one source file
// for each instruction set. Above some KiB, libraries' memcpy uses x86's string instructions, which
// on several generations are many times slower when the destination's lines lie in another core's
// cache, as those of shared staging always do, or when the two addresses do not fit each other.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace purlin::atom_host {
namespace {

#if defined(__AVX2__)
constexpr uint64_t kVectorBytes = 32;
#else
constexpr uint64_t kVectorBytes = 16;
#endif
using Vector [[gnu::vector_size(kVectorBytes), gnu::aligned(1), gnu::may_alias]] = unsigned char;

void copy(void* destination, const void* source, uint64_t bytes) {
  auto* to = static_cast<unsigned char*>(destination);
  const auto* from = static_cast<const unsigned char*>(source);
  const auto load = [&](uint64_t i) { return *reinterpret_cast<const Vector*>(from + i); };
  const auto store = [&](uint64_t i, Vector v) { *reinterpret_cast<Vector*>(to + i) = v; };
  constexpr uint64_t kV = kVectorBytes;
  uint64_t at = 0;
  for (; at + 4 * kV <= bytes; at += 4 * kV) {
    const Vector a = load(at), b = load(at + kV), c = load(at + 2 * kV), d = load(at + 3 * kV);
    store(at, a);
    store(at + kV, b);
    store(at + 2 * kV, c);
    store(at + 3 * kV, d);
  }
  for (; at + kV <= bytes; at += kV) store(at, load(at));
  if (at < bytes) std::memcpy(to + at, from + at, bytes - at);
}

#if defined(__SSE2__)

// Stores that bypass the caches need aligned destinations and a fence before anything that tells of
// them.
void stream(void* destination, const void* source, uint64_t bytes) {
  auto* to = static_cast<unsigned char*>(destination);
  const auto* from = static_cast<const unsigned char*>(source);
  const uint64_t head = -reinterpret_cast<uintptr_t>(to) % 64;
  if (head >= bytes) return copy(to, from, bytes);
  copy(to, from, head);
  uint64_t at = head;
  for (; at + 64 <= bytes; at += 64) {
#if defined(__AVX2__)
    const auto* in = reinterpret_cast<const __m256i*>(from + at);
    auto* out = reinterpret_cast<__m256i*>(to + at);
    for (int i = 0; i < 2; ++i) _mm256_stream_si256(out + i, _mm256_loadu_si256(in + i));
#else
    const auto* in = reinterpret_cast<const __m128i*>(from + at);
    auto* out = reinterpret_cast<__m128i*>(to + at);
    for (int i = 0; i < 4; ++i) _mm_stream_si128(out + i, _mm_loadu_si128(in + i));
#endif
  }
  _mm_sfence();
  copy(to + at, from + at, bytes - at);
}

#else

void stream(void* destination, const void* source, uint64_t bytes) {
  copy(destination, source, bytes);
}

#endif

}  // namespace
}  // namespace purlin::atom_host
