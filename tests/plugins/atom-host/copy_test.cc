// Every version of the copying kernels, and segments that the plugin copies past the caches.
#include <doctest/doctest.h>

#include <string>

#include "guarded_buffer.h"
#include "kernels.h"
#include "level.h"
#include "reference/patterns.h"

namespace {

namespace atom_host = purlin::atom_host;
namespace reference = purlin::reference;
using namespace purlin::atom_host_test;

struct Way {
  std::string name;
  atom_host::CopyKernel copy;
};

std::vector<Way> ways() {
  std::vector<Way> all = {{"baseline copy", atom_host::kBaselineKernels.copy},
                          {"baseline stream", atom_host::kBaselineKernels.stream}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) {
    all.push_back({"avx2 copy", atom_host::kAvx2Kernels.copy});
    all.push_back({"avx2 stream", atom_host::kAvx2Kernels.stream});
  } else {
    purlin::test::skip("copying with AVX2: this CPU has none");
  }
#endif
  return all;
}

TEST_CASE("every length around vectors and lines, at every alignment of both ends") {
  const auto content = reference::mixed_elements(PURLIN_U8, 5000, purlin::test::seed());
  for (const Way& way : ways()) {
    CAPTURE(way.name);
    for (const uint64_t bytes : {0u,   1u,   15u,  16u,  17u,  31u,  32u,  33u,   63u,   64u,  65u,
                                 127u, 128u, 129u, 191u, 255u, 256u, 257u, 1000u, 4096u, 5000u}) {
      const std::vector<unsigned char> part(content.begin(),
                                            content.begin() + static_cast<std::ptrdiff_t>(bytes));
      for (uint64_t from = 0; from < 64; from += bytes < 300 ? 1 : 7) {
        const GuardedBuffer source(part, from);
        for (uint64_t to = 0; to < 64; to += 5) {
          GuardedBuffer destination(bytes, to);
          way.copy(destination.data(), source.data(), bytes);
          const bool right = destination.holds(part) && destination.guards_intact();
          REQUIRE_MESSAGE(right, bytes << " bytes from " << from << " to " << to);
        }
      }
      purlin::test::count_cases(1);
    }
  }
}

}  // namespace
