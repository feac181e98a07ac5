// A rank's own part of a pre-multiplied sum, scaled by the plugin, against the serial reference.
#include <doctest/doctest.h>

#include <vector>

#include "guarded_buffer.h"
#include "level.h"
#include "plugin.h"
#include "reference/patterns.h"
#include "reference/reference.h"

namespace {

namespace reference = purlin::reference;
using namespace purlin::atom_host_test;

TEST_CASE("every dtype by every special scalar, aligned or not, in place or not") {
  const uint64_t seed = purlin::test::seed();
  CAPTURE(seed);
  for (int d = 0; d < PURLIN_DTYPE_COUNT; ++d) {
    const auto dtype = static_cast<purlin_dtype>(d);
    const reference::Shape shape = reference::shape_of(dtype);
    const purlin_dtype scalar_type = shape.floating && shape.width < 32 ? PURLIN_F32 : dtype;
    const uint64_t count = 517;
    const auto content = reference::mixed_elements(dtype, count, seed + static_cast<uint64_t>(d));
    std::vector<unsigned char> expected(content.size());
    CAPTURE(reference::name_of(dtype));
    for (const uint64_t bits : reference::special_values(scalar_type)) {
      unsigned char scalar[8] = {};
      reference::store_bits(scalar_type, scalar, 0, bits);
      reference::scale(dtype, content.data(), scalar, count, expected.data());
      CAPTURE(bits);

      const GuardedBuffer source(content, 1);
      GuardedBuffer apart(content.size(), 2);
      host_atom().scale(dtype, source.data(), scalar, apart.data(), content.size());
      CHECK(apart.holds(expected));
      CHECK(apart.guards_intact());
      CHECK(source.holds(content));

      GuardedBuffer in_place(content, 3);
      host_atom().scale(dtype, in_place.data(), scalar, in_place.data(), content.size());
      CHECK(in_place.holds(expected));
      CHECK(in_place.guards_intact());
      purlin::test::count_cases(2);
    }
  }
}

}  // namespace
