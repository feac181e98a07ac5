#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "level.h"
#include "program/image.h"
#include "program/select.h"
#include "toy_atom.h"
#include "toy_core.h"

using namespace purlin;

TEST_CASE("the generated table holds every image, whole and with its facts") {
  if (toy_atom_count == 0) {
    CHECK(toy_core_count == 0);
    test::skip("built without a CUDA toolkit: there are no device images");
    return;
  }
  CHECK(toy_core_count == 1);
  REQUIRE(toy_atom_count == 10);
  uint32_t reductions = 0, specific = 0;
  for (uint64_t i = 0; i < toy_atom_count; ++i) {
    const auto image = image_from_atom(toy_atom[i], "toy");
    REQUIRE(image.is_ok());
    CHECK_MESSAGE(check_image(*image).is_ok(), describe(*image));
    CHECK(image->compiler >= 12000);
    CHECK(reinterpret_cast<uintptr_t>(image->bytes.data()) % 16 == 0);
    reductions += image->role == PURLIN_IMAGE_REDUCTION && image->dtype == PURLIN_F32;
    specific += image->specific != 0;
  }
  CHECK(reductions == 4);
  CHECK(specific == 2);
}
