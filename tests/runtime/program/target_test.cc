#include "program/target.h"

#include <doctest/doctest.h>

#include "runtime/program/sample_images.h"

using namespace purlin;

TEST_CASE("which image may be linked for which device") {
  struct Row {
    uint32_t base;
    char specific;
    uint32_t cc;
    bool fits;
  };
  for (const Row& row :
       {Row{75, 0, 75, true}, Row{75, 0, 120, true}, Row{90, 0, 89, false}, Row{90, 'a', 90, true},
        Row{90, 'a', 100, false}, Row{90, 'a', 89, false}, Row{100, 'f', 100, true},
        Row{100, 'f', 103, true}, Row{100, 'f', 110, false}, Row{103, 'f', 100, false},
        Row{120, 'f', 121, true}, Row{100, 'a', 103, false}}) {
    CAPTURE(row.base);
    CAPTURE(row.specific);
    CAPTURE(row.cc);
    const Status s = check_architecture(sample_image("x", row.base, row.specific), row.cc);
    CHECK(s.is_ok() == row.fits);
    if (!s.is_ok()) {
      CHECK(s.code() == PURLIN_LINK_ERROR);
      CHECK(s.message().find("'x' cannot be linked for an sm_") != std::string::npos);
    }
  }
}

TEST_CASE("machine code stays within its major version") {
  auto image = sample_image("x", 80);
  image.kind = PURLIN_IMAGE_CUBIN;
  CHECK(check_architecture(image, 80).is_ok());
  CHECK(check_architecture(image, 89).is_ok());
  CHECK_FALSE(check_architecture(image, 90).is_ok());
  CHECK_FALSE(check_architecture(image, 75).is_ok());
}

TEST_CASE("a specific image narrows the target, others leave it plain") {
  CHECK(target_for(90, std::vector{sample_image("s", 75), sample_image("a", 90)}).name() ==
        "sm_90");
  CHECK(target_for(90, std::vector{sample_image("s", 75), sample_image("a", 90, 'a')}).name() ==
        "sm_90a");
  CHECK(target_for(103, std::vector{sample_image("a", 100, 'f')}).name() == "sm_103a");
}
