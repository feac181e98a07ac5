#include "program/select.h"

#include <doctest/doctest.h>

#include "runtime/program/sample_images.h"

using namespace purlin;

namespace {
std::vector<DeviceImage> atom() {
  return {sample_image("core 75", 75),
          sample_image("core 90", 90),
          sample_image("core 90a", 90, 'a'),
          sample_image("core 100f", 100, 'f'),
          sample_image("bf16 75", 75, 0, PURLIN_IMAGE_REDUCTION, PURLIN_BF16),
          sample_image("bf16 80", 80, 0, PURLIN_IMAGE_REDUCTION, PURLIN_BF16),
          sample_image("f32 75", 75, 0, PURLIN_IMAGE_REDUCTION, PURLIN_F32)};
}
}  // namespace

TEST_CASE("the greatest base that fits the device is chosen for each part") {
  const auto images = atom();
  struct Row {
    uint32_t cc;
    const char* core;
    const char* reduction;
  };
  for (const Row& row : {Row{75, "core 75", "bf16 75"}, Row{86, "core 75", "bf16 80"},
                         Row{90, "core 90a", "bf16 80"}, Row{100, "core 100f", "bf16 80"},
                         Row{103, "core 100f", "bf16 80"}, Row{120, "core 90", "bf16 80"}}) {
    CAPTURE(row.cc);
    const auto chosen = select_images(images, row.cc, PURLIN_BF16);
    REQUIRE(chosen.is_ok());
    REQUIRE(chosen->size() == 2);
    CHECK((*chosen)[0].name == row.core);
    CHECK((*chosen)[1].name == row.reduction);
  }
}

TEST_CASE("a copying program takes no reduction") {
  const auto chosen = select_images(atom(), 90, std::nullopt);
  REQUIRE(chosen.is_ok());
  CHECK(chosen->size() == 1);
}

TEST_CASE("when nothing fits, every candidate is named with its reason") {
  const std::vector<DeviceImage> images = {sample_image("core 90", 90),
                                           sample_image("core 100a", 100, 'a')};
  const auto none = select_images(images, 80, std::nullopt);
  REQUIRE_FALSE(none.is_ok());
  const auto& text = none.status().message();
  CHECK(text.find("no core image for an sm_80 device") == 0);
  CHECK(text.find("'core 90'") != std::string::npos);
  CHECK(text.find("'core 100a'") != std::string::npos);
  const auto missing = select_images(atom(), 90, PURLIN_F64);
  REQUIRE_FALSE(missing.is_ok());
  CHECK(missing.status().message() ==
        "no reduction image of type f64 for an sm_90 device:\n  the Atom has none at all");
}

TEST_CASE(
    "LTO-IR goes before a cubin of the same base, and a plain core image never is a program") {
  auto cubin = sample_image("cubin", 90), program = sample_image("program", 90);
  cubin.kind = PURLIN_IMAGE_CUBIN;
  program.kind = PURLIN_IMAGE_PROGRAM;
  const std::vector<DeviceImage> images = {program, cubin, sample_image("lto", 90)};
  CHECK((*select_images(images, 90, std::nullopt))[0].name == "lto");
  CHECK((*select_images(std::span(images).first(2), 90, std::nullopt))[0].name == "cubin");
}
