#include "program/image.h"

#include <doctest/doctest.h>

#include "runtime/program/sample_images.h"

using namespace purlin;

namespace {
purlin_atom_image record(const std::vector<std::byte>& bytes) {
  purlin_atom_image image{};
  image.struct_size = sizeof(image);
  image.kind = PURLIN_IMAGE_LTOIR_FATBIN;
  image.role = PURLIN_IMAGE_CORE;
  image.base = 90;
  image.arch_specific = 'a';
  image.data = bytes.data();
  image.bytes = bytes.size();
  image.name = "core";
  image.compiler = 13000;
  return image;
}
}  // namespace

TEST_CASE("a plugin's image record is read as far as its size reaches") {
  const auto bytes = sample_fatbin("x");
  auto image = record(bytes);
  auto full = image_from_atom(image, "hopper");
  REQUIRE(full.is_ok());
  CHECK(full->name == "hopper: core");
  CHECK(full->compiler == 13000);
  CHECK(describe(*full) == "sm_90a LTO-IR 'hopper: core'");
  image.struct_size = offsetof(purlin_atom_image, compiler);  // the first published size
  auto old = image_from_atom(image, "hopper");
  REQUIRE(old.is_ok());
  CHECK(old->compiler == 0);
  image.struct_size -= 1;
  CHECK(image_from_atom(image, "hopper").status().code() == PURLIN_PLUGIN_ERROR);
}

TEST_CASE("kinds, roles, types and suffixes from the future are refused by plugin and image") {
  const auto bytes = sample_fatbin("x");
  const auto refuses = [&](auto change) {
    auto image = record(bytes);
    change(image);
    const auto read = image_from_atom(image, "acme");
    REQUIRE_FALSE(read.is_ok());
    CHECK(read.status().message().find("plugin 'acme': image 'core'") == 0);
  };
  refuses([](auto& i) { i.kind = 9; });
  refuses([](auto& i) { i.role = 0; });
  refuses([](auto& i) { i.dtype = PURLIN_DTYPE_COUNT; });
  refuses([](auto& i) { i.arch_specific = 'x'; });
}

TEST_CASE("a damaged image is told from a whole one") {
  auto image = sample_image("snac", 75);
  CHECK(check_image(image).is_ok());
  const auto whole = image.bytes;
  for (size_t length : {size_t{0}, size_t{7}, whole.size() - 1}) {
    image.bytes = whole.first(length);
    const Status s = check_image(image);
    REQUIRE_FALSE(s.is_ok());
    CHECK(s.code() == PURLIN_LINK_ERROR);
    CHECK(s.message().find("'snac' is damaged") != std::string::npos);
  }
  std::vector<std::byte> other(whole.begin(), whole.end());
  other[0] = std::byte{0};
  image.bytes = other;
  CHECK_FALSE(check_image(image).is_ok());
  image.kind = PURLIN_IMAGE_CUBIN;
  CHECK_FALSE(check_image(image).is_ok());
}
