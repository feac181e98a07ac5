// The loops over elements, to be included by one source file for each instruction set: the compiler
// vectorises them for whatever that file is built for. Everything here is private to the including
// file, so that no version can be linked in place of another.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "copy_loops.h"
#include "kernels.h"
#include "purlin/kit/combine.h"
#include "purlin/kit/dtype.h"
#include "purlin/kit/finish.h"

namespace purlin::atom_host {
namespace {

// Before a loop none of whose iterations reads what an earlier one wrote, though the compiler
// cannot know.
#if defined(__clang__)
#define PURLIN_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#else
#define PURLIN_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

// Elements of a block. Its accumulators (4 KiB at most) stay in the nearest cache while source
// after source is added.
constexpr uint64_t kBlockElements = 512;

// Element `index` of a buffer of any alignment.
template <purlin_dtype D>
inline kit::Storage<D> load(const unsigned char* data, uint64_t index) {
  kit::Storage<D> element;
  std::memcpy(&element, data + index * sizeof element, sizeof element);
  return element;
}

template <purlin_dtype D>
inline void store(unsigned char* data, uint64_t index, kit::Storage<D> element) {
  std::memcpy(data + index * sizeof element, &element, sizeof element);
}

// Each loop is a function of its own: inlined into one nest, compilers no longer vectorise them.
template <purlin_dtype D, purlin_op O>
struct Loops {
  using Sum = kit::Accumulator<D>;
  using Factor = typename kit::Dtype<D>::Factor;

  [[gnu::noinline]] static void start(Sum* __restrict sums, const unsigned char* __restrict source,
                                      uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) sums[i] = kit::source<D>(load<D>(source, i));
  }

  [[gnu::noinline]] static void add(Sum* __restrict sums, const unsigned char* __restrict source,
                                    uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      sums[i] = kit::combine<O>(sums[i], kit::source<D>(load<D>(source, i)));
    }
  }

  [[gnu::noinline]] static void finish(const Sum* __restrict sums, unsigned char* __restrict out,
                                       uint64_t count, Factor factor) {
    for (uint64_t i = 0; i < count; ++i) store<D>(out, i, kit::finish<D, O>(sums[i], factor));
  }

  // Two sources, the most frequent number: no accumulators in memory. `out` is one of them or apart
  // from both, so no iteration reads what an earlier one wrote.
  [[gnu::noinline]] static void combine_two(const unsigned char* a, const unsigned char* b,
                                            unsigned char* out, uint64_t count, Factor factor) {
    PURLIN_INDEPENDENT_ITERATIONS
    for (uint64_t i = 0; i < count; ++i) {
      const Sum first = kit::source<D>(load<D>(a, i));
      const Sum sum = kit::combine<O>(first, kit::source<D>(load<D>(b, i)));
      store<D>(out, i, kit::finish<D, O>(sum, factor));
    }
  }
};

template <purlin_dtype D, purlin_op O>
void reduce(const void* const* sources, uint32_t nsrc, void* destination, uint64_t count,
            uint32_t nranks) {
  using L = Loops<D, O>;
  const auto factor = kit::average_factor<D>(nranks);
  const auto source = [&](uint32_t r) { return static_cast<const unsigned char*>(sources[r]); };
  auto* out = static_cast<unsigned char*>(destination);
  if (nsrc == 2) return L::combine_two(source(0), source(1), out, count, factor);
  typename L::Sum sums[kBlockElements];
  for (uint64_t at = 0; at < count; at += kBlockElements) {
    const uint64_t elements = count - at < kBlockElements ? count - at : kBlockElements;
    const uint64_t offset = at * sizeof(kit::Storage<D>);
    L::start(sums, source(0) + offset, elements);
    for (uint32_t r = 1; r < nsrc; ++r) L::add(sums, source(r) + offset, elements);
    L::finish(sums, out + offset, elements, factor);
  }
}

template <purlin_dtype D>
void scale(const void* source, const void* scalar, void* destination, uint64_t count) {
  typename kit::Dtype<D>::Accumulator factor;
  std::memcpy(&factor, scalar, sizeof factor);
  const auto* in = static_cast<const unsigned char*>(source);
  auto* out = static_cast<unsigned char*>(destination);
  PURLIN_INDEPENDENT_ITERATIONS
  for (uint64_t i = 0; i < count; ++i) store<D>(out, i, kit::scale<D>(load<D>(in, i), factor));
}

// The parts of a pre-multiplied sum are scaled before they become sources, so it shares sum's code.
constexpr purlin_op code_of(int op) {
  return op == PURLIN_PREMUL_SUM ? PURLIN_SUM : static_cast<purlin_op>(op);
}

template <purlin_dtype D, int... kOp>
constexpr void fill_row(Kernels& kernels, std::integer_sequence<int, kOp...>) {
  ((kernels.reduce[D][kOp] = &reduce<D, code_of(kOp)>), ...);
  kernels.scale[D] = &scale<D>;
}

template <int... kDtype>
constexpr Kernels make_kernels(std::integer_sequence<int, kDtype...>) {
  Kernels kernels{};
  kernels.copy = &copy;
  kernels.stream = &stream;
  (fill_row<static_cast<purlin_dtype>(kDtype)>(kernels,
                                               std::make_integer_sequence<int, PURLIN_OP_COUNT>{}),
   ...);
  return kernels;
}

constexpr Kernels make_kernels() {
  return make_kernels(std::make_integer_sequence<int, PURLIN_DTYPE_COUNT>{});
}

}  // namespace
}  // namespace purlin::atom_host
