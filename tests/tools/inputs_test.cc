#include "tools/inputs.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "purlin/purlin.h"
#include "tools/names.h"
#include "tools/reference.h"

namespace purlin::tools {
namespace {

InputSource source_of(int dtype, bool reducing, int op = PURLIN_SUM) {
  InputSource source;
  source.dtype = dtype;
  source.reducing = reducing;
  source.op = op;
  source.seed = 1;
  source.bytes = 4096;
  return source;
}

TEST_CASE("any block of the inputs can be made by itself") {
  for (int dtype = 0; dtype < PURLIN_DTYPE_COUNT; ++dtype) {
    for (bool reducing : {false, true}) {
      const InputSource source = source_of(dtype, reducing);
      const uint64_t bytes = dtype_bytes(dtype);
      std::vector<unsigned char> whole(1000 * bytes), part(100 * bytes);
      source.block(3, 0, 1000, whole.data());
      for (uint64_t first : {0, 1, 7, 8, 500, 900}) {
        source.block(3, first, 100, part.data());
        CHECK(std::memcmp(part.data(), whole.data() + first * bytes, part.size()) == 0);
      }
    }
  }
}

TEST_CASE("no element is zero, and seed, rank, size and iteration matter") {
  for (int dtype = 0; dtype < PURLIN_DTYPE_COUNT; ++dtype) {
    for (int op : {PURLIN_SUM, PURLIN_PROD}) {
      InputSource source = source_of(dtype, true, op);
      const uint64_t bytes = dtype_bytes(dtype);
      std::vector<unsigned char> a(20000 * bytes), b(a.size());
      source.block(0, 0, 20000, a.data());
      uint64_t zeros = 0;
      const std::vector<unsigned char> zero(bytes, 0);
      for (uint64_t i = 0; i < 20000; ++i)
        zeros += std::memcmp(a.data() + i * bytes, zero.data(), bytes) == 0;
      CHECK(zeros == 0);
      source.block(1, 0, 20000, b.data());
      CHECK(a != b);
      for (uint64_t InputSource::*part :
           {&InputSource::seed, &InputSource::bytes, &InputSource::iteration}) {
        InputSource other = source;
        ++(other.*part);
        other.block(0, 0, 20000, b.data());
        CHECK(a != b);
      }
    }
  }
}

TEST_CASE("floating-point inputs show a wrong order, and specials are few") {
  const InputSource source = source_of(PURLIN_F32, true);
  constexpr uint64_t kCount = 20000;
  std::vector<std::vector<float>> inputs(4, std::vector<float>(kCount));
  for (int r = 0; r < 4; ++r) source.block(r, 0, kCount, inputs[static_cast<size_t>(r)].data());
  const void* forward[] = {inputs[0].data(), inputs[1].data(), inputs[2].data(), inputs[3].data()};
  const void* backward[] = {inputs[3].data(), inputs[2].data(), inputs[1].data(), inputs[0].data()};
  std::vector<float> a(kCount), b(kCount);
  reference_reduce(PURLIN_F32, PURLIN_SUM, forward, 4, nullptr, kCount, a.data());
  reference_reduce(PURLIN_F32, PURLIN_SUM, backward, 4, nullptr, kCount, b.data());
  uint64_t differ = 0, special = 0;
  for (size_t i = 0; i < kCount; ++i) {
    differ += std::memcmp(&a[i], &b[i], sizeof(float)) != 0;
    special += !std::isfinite(inputs[0][i]);
  }
  CHECK(differ > kCount / 4);
  CHECK(special > 0);
  CHECK(special < kCount / 500);
}

TEST_CASE("integers use their full range, products get odd factors") {
  std::set<int8_t> seen;
  std::vector<int8_t> values(20000);
  source_of(PURLIN_I8, true).block(0, 0, values.size(), values.data());
  seen.insert(values.begin(), values.end());
  CHECK(seen.size() == 255);
  source_of(PURLIN_I8, true, PURLIN_PROD).block(0, 0, values.size(), values.data());
  for (int8_t value : values) REQUIRE((value & 1) == 1);
}

TEST_CASE("each rank has a scalar of its own") {
  for (int dtype = 0; dtype < PURLIN_DTYPE_COUNT; ++dtype) {
    const auto scalars = premul_scalars(dtype, 3);
    CHECK(std::memcmp(scalars[0].bytes, scalars[1].bytes, 8) != 0);
    CHECK(std::memcmp(scalars[1].bytes, scalars[2].bytes, 8) != 0);
  }
}

}  // namespace
}  // namespace purlin::tools
