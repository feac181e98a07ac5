// The whole rule on pieces in registers, which is what device fragments use, for every dtype and
// operation, against the serial reference.
#include "purlin/kit/words.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "kit/dispatch.h"
#include "level.h"
#include "purlin/kit/any_words.h"
#include "reference/patterns.h"
#include "reference/reference.h"

namespace {

namespace kit = purlin::kit;
namespace reference = purlin::reference;
using Bytes = std::vector<unsigned char>;

constexpr std::uint32_t kMaxSources = 16;
constexpr std::uint64_t kPieces = 64;

// Reduces kPieces pieces of kBytes bytes from n sources of mixed values; returns the bytes that
// differ from the reference, with the operation a compile-time constant and a run-time value.
template <purlin_dtype D, purlin_op O, int kBytes>
int count_wrong(std::uint32_t n, std::uint64_t seed) {
  const std::uint64_t size = kPieces * kBytes;
  const std::uint64_t count = size / reference::element_bytes(D);
  std::vector<Bytes> sources;
  std::vector<const void*> pointers;
  for (std::uint32_t r = 0; r < n; ++r) {
    sources.push_back(reference::mixed_elements(D, count, seed * 100 + r));
    pointers.push_back(sources.back().data());
  }
  Bytes expected(size);
  reference::reduce(D, O, pointers.data(), n, n, count, expected.data());
  int wrong = 0;
  for (std::uint64_t piece = 0; piece < kPieces; ++piece) {
    kit::Words<kBytes> held[kMaxSources] = {};
    for (std::uint32_t r = 0; r < n; ++r) {
      std::memcpy(&held[r], sources[r].data() + piece * kBytes, kBytes);
    }
    const kit::Words<kBytes> fixed = kit::reduce_words<D, O>(held, n, n);
    const kit::Words<kBytes> chosen = kit::reduce_words<D>(O, held, n, n);
    const unsigned char* right = expected.data() + piece * kBytes;
    wrong += std::memcmp(&fixed, right, kBytes) != 0;
    wrong += std::memcmp(&chosen, right, kBytes) != 0;
    if constexpr (kBytes == 8) {
      const kit::Words<kBytes> any = kit::reduce_any_words(D, O, held, n, n);
      wrong += std::memcmp(&any, right, kBytes) != 0;
    }
  }
  return wrong;
}

TEST_CASE("a piece of 8 or 16 bytes is reduced by the rule") {
  purlin::kit_test::for_each_dtype([]<purlin_dtype D>() {
    purlin::kit_test::for_each_op([]<purlin_op O>() {
      for (const std::uint32_t n : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 16u}) {
        const std::uint64_t seed = purlin::test::seed() + 1000u * D + 100u * O + n;
        CAPTURE(seed);
        CAPTURE(reference::name_of(D));
        CAPTURE(reference::name_of(O));
        CAPTURE(n);
        CHECK(count_wrong<D, O, 16>(n, seed) == 0);
        CHECK(count_wrong<D, O, 8>(n, seed) == 0);
        purlin::test::count_cases(4 * kPieces);
      }
    });
  });
}

TEST_CASE("every special value on every rank in turn") {
  purlin::kit_test::for_each_dtype([]<purlin_dtype D>() {
    purlin::kit_test::for_each_op([]<purlin_op O>() {
      const std::vector<std::uint64_t> specials = reference::special_values(D);
      int wrong = 0;
      for (const std::uint64_t a : specials) {
        for (const std::uint64_t b : specials) {
          for (std::uint32_t place = 0; place < 3; ++place) {
            std::vector<std::uint64_t> bits(3, b);
            bits[place] = a;
            kit::Words8 held[3] = {};
            for (int r = 0; r < 3; ++r) {
              kit::put_element<D>(held[r], 0, static_cast<kit::Storage<D>>(bits[r]));
            }
            const auto found = kit::element_of<D>(kit::reduce_words<D, O>(held, 3, 3), 0);
            const auto expected =
                static_cast<kit::Storage<D>>(reference::reduce_element(D, O, bits, 3));
            if (found != expected) ++wrong;
            const auto any = kit::element_of<D>(kit::reduce_any_words(D, O, held, 3, 3), 0);
            if (any != expected) ++wrong;
          }
        }
      }
      CAPTURE(reference::name_of(D));
      CAPTURE(reference::name_of(O));
      CHECK(wrong == 0);
    });
  });
}

TEST_CASE("parts of a pre-multiplied sum are scaled by the rule") {
  purlin::kit_test::for_each_dtype([]<purlin_dtype D>() {
    using Scalar = typename kit::Dtype<D>::Accumulator;
    const reference::Shape shape = reference::shape_of(D);
    const purlin_dtype scalar_type = shape.floating && shape.width < 32 ? PURLIN_F32 : D;
    int wrong = 0;
    for (const std::uint64_t factor : reference::special_values(scalar_type)) {
      for (const std::uint64_t bits : reference::special_values(D)) {
        Scalar scalar;
        std::memcpy(&scalar, &factor, sizeof scalar);
        kit::Words16 in = {};
        kit::put_element<D>(in, 1, static_cast<kit::Storage<D>>(bits));
        const auto found = kit::element_of<D>(kit::scale_words<D>(in, scalar), 1);
        const auto expected =
            static_cast<kit::Storage<D>>(reference::scale_element(D, bits, factor));
        if (found != expected) ++wrong;
        kit::Words8 half = {};
        kit::put_element<D>(half, 0, static_cast<kit::Storage<D>>(bits));
        if (kit::element_of<D>(kit::scale_any_words(D, half, factor), 0) != expected) ++wrong;
      }
    }
    CAPTURE(reference::name_of(D));
    CHECK(wrong == 0);
  });
}

}  // namespace
