// Buffers reduced by the plugin, and by each version of its kernels, against the serial reference.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "guarded_buffer.h"
#include "kernels.h"
#include "level.h"
#include "plugin.h"
#include "reference/patterns.h"
#include "reference/reference.h"

namespace {

namespace atom_host = purlin::atom_host;
namespace reference = purlin::reference;
using namespace purlin::atom_host_test;
using Bytes = std::vector<unsigned char>;

// One way to reduce: the plugin's table, or one version of the kernels.
struct Way {
  std::string name;
  const atom_host::Kernels* kernels;  // null: through the plugin
};

std::vector<Way> ways() {
  std::vector<Way> all = {{"plugin", nullptr}, {"baseline", &atom_host::kBaselineKernels}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) {
    all.push_back({"avx2", &atom_host::kAvx2Kernels});
  } else {
    purlin::test::skip("AVX2 kernels: this CPU has none");
  }
#endif
  return all;
}

struct Case {
  purlin_dtype dtype;
  purlin_op op;
  uint32_t n;
  uint64_t count;
  uint64_t shift;  // of every buffer from a 64-byte boundary; source r is r bytes further
  int in_place;    // index of the source that is the destination, or -1
};

void reduce_by(const Way& way, const Case& c, const void* const* sources, void* out) {
  if (way.kernels != nullptr) {
    way.kernels->reduce[c.dtype][c.op](sources, c.n, out, c.count, c.n);
    return;
  }
  const purlin_constants constants = constants_of(c.dtype, c.op, c.n);
  host_atom().reduce(&constants, sources, c.n, out, c.count * reference::element_bytes(c.dtype));
}

// True if the destination holds the reference's bytes, nothing beyond it was written, and the
// sources that are not the destination are unchanged.
bool is_right(const Way& way, const Case& c, uint64_t seed) {
  std::vector<Bytes> contents;
  std::vector<GuardedBuffer> buffers;
  std::vector<const void*> pointers;
  for (uint32_t r = 0; r < c.n; ++r) {
    contents.push_back(reference::mixed_elements(c.dtype, c.count, seed + r));
    buffers.emplace_back(contents.back(), c.shift + r);
  }
  for (const GuardedBuffer& buffer : buffers) pointers.push_back(buffer.data());
  Bytes expected(c.count * reference::element_bytes(c.dtype));
  std::vector<const void*> originals;
  for (const Bytes& content : contents) originals.push_back(content.data());
  reference::reduce(c.dtype, c.op, originals.data(), c.n, c.n, c.count, expected.data());

  GuardedBuffer apart(expected.size(), c.shift + 3);
  GuardedBuffer& out = c.in_place < 0 ? apart : buffers[static_cast<size_t>(c.in_place)];
  reduce_by(way, c, pointers.data(), out.data());
  bool right = out.holds(expected) && apart.guards_intact();
  for (uint32_t r = 0; r < c.n; ++r) {
    right = right && buffers[r].guards_intact();
    if (static_cast<int>(r) != c.in_place) right = right && buffers[r].holds(contents[r]);
  }
  return right;
}

TEST_CASE("every dtype and operation, for any number of sources, aligned or not, in place or not") {
  const uint64_t seed = purlin::test::seed();
  const std::vector<uint64_t> counts =
      purlin::test::is_full() ? std::vector<uint64_t>{0, 1, 7, 31, 64, 511, 512, 513, 2049}
                              : std::vector<uint64_t>{1, 37, 515};
  for (const Way& way : ways()) {
    int wrong = 0;
    uint64_t tried = 0;
    for (int d = 0; d < PURLIN_DTYPE_COUNT; ++d) {
      for (int o = 0; o < PURLIN_OP_COUNT; ++o) {
        for (const uint32_t n : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 16u}) {
          for (const uint64_t count : counts) {
            // The other axes walk along, so that each of their values meets each dtype, op and n.
            const int in_place = tried % 2 == 0 ? -1 : static_cast<int>(tried / 2 % n);
            const Case c{static_cast<purlin_dtype>(d),
                         static_cast<purlin_op>(o),
                         n,
                         count,
                         tried % 7,
                         in_place};
            if (!is_right(way, c, seed + 1000 * tried) && ++wrong <= 5) {
              MESSAGE("wrong: ", reference::name_of(c.dtype), " ", reference::name_of(c.op),
                      " n=", n, " count=", count, " shift=", c.shift, " in_place=", in_place);
            }
            ++tried;
          }
        }
      }
    }
    purlin::test::count_cases(tried);
    CAPTURE(way.name);
    CAPTURE(seed);
    CHECK(wrong == 0);
  }
}

TEST_CASE("every special value on every source in turn") {
  constexpr uint32_t kSources = 4;
  for (const Way& way : ways()) {
    int wrong = 0;
    for (int d = 0; d < PURLIN_DTYPE_COUNT; ++d) {
      const auto dtype = static_cast<purlin_dtype>(d);
      const std::vector<uint64_t> specials = reference::special_values(dtype);
      const uint64_t count = specials.size() * specials.size() * kSources;
      // Element by element one special value on source `place`, another on all others.
      std::vector<Bytes> sources(kSources, Bytes(count * reference::element_bytes(dtype)));
      for (uint64_t i = 0; i < count; ++i) {
        const uint64_t place = i % kSources;
        const uint64_t a = specials[i / kSources % specials.size()];
        const uint64_t b = specials[i / kSources / specials.size()];
        for (uint64_t r = 0; r < kSources; ++r) {
          reference::store_bits(dtype, sources[r].data(), i, r == place ? a : b);
        }
      }
      std::vector<const void*> pointers;
      for (const Bytes& source : sources) pointers.push_back(source.data());
      for (int o = 0; o < PURLIN_OP_COUNT; ++o) {
        const Case c{dtype, static_cast<purlin_op>(o), kSources, count, 0, -1};
        Bytes expected(sources[0].size());
        Bytes found(sources[0].size());
        reference::reduce(dtype, c.op, pointers.data(), kSources, kSources, count, expected.data());
        reduce_by(way, c, pointers.data(), found.data());
        if (found != expected && ++wrong <= 5) {
          MESSAGE("wrong: ", reference::name_of(dtype), " ", reference::name_of(c.op));
        }
        purlin::test::count_cases(count);
      }
    }
    CAPTURE(way.name);
    CHECK(wrong == 0);
  }
}

TEST_CASE("all 16-bit and 8-bit patterns survive a reduction of one source as documented") {
  for (const Way& way : ways()) {
    for (const purlin_dtype dtype : {PURLIN_F16, PURLIN_BF16, PURLIN_F8E4M3, PURLIN_F8E5M2}) {
      const uint64_t count = uint64_t{1} << reference::shape_of(dtype).width;
      Bytes source(count * reference::element_bytes(dtype));
      for (uint64_t i = 0; i < count; ++i) reference::store_bits(dtype, source.data(), i, i);
      const void* pointers[] = {source.data()};
      Bytes expected(source.size());
      Bytes found(source.size());
      reference::reduce(dtype, PURLIN_SUM, pointers, 1, 1, count, expected.data());
      reduce_by(way, {dtype, PURLIN_SUM, 1, count, 0, -1}, pointers, found.data());
      CAPTURE(way.name);
      CAPTURE(reference::name_of(dtype));
      CHECK(found == expected);
    }
  }
}

TEST_CASE("as many sources as a communicator may have ranks") {
  for (const Way& way : ways()) {
    CAPTURE(way.name);
    CHECK(is_right(way, {PURLIN_BF16, PURLIN_AVG, PURLIN_MAX_RANKS, 77, 1, -1}, 5));
    CHECK(is_right(way, {PURLIN_I8, PURLIN_AVG, PURLIN_MAX_RANKS, 77, 1, 63}, 6));
  }
}

}  // namespace
