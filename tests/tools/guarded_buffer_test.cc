#include "tools/guarded_buffer.h"

#include <doctest/doctest.h>

#include <cstring>

namespace purlin::tools {
namespace {

TEST_CASE("guards notice a byte on either side") {
  for (uint64_t misalign : {0, 1, 12, 4095}) {
    auto made = GuardedBuffer::make(1000, misalign);
    REQUIRE(made.ok());
    GuardedBuffer& buffer = *made;
    CHECK(reinterpret_cast<uintptr_t>(buffer.data()) % 4096 == misalign);
    std::memset(buffer.data(), 0, 1000);
    CHECK(buffer.damage().bytes == 0);
    buffer.data()[1000] ^= 1;
    CHECK(buffer.damage().bytes == 1);
    CHECK(buffer.damage().first == 1000);
    buffer.data()[-1] ^= 1;
    CHECK(buffer.damage().bytes == 2);
    CHECK(buffer.damage().first == -1);
    buffer.data()[-1] ^= 1;
    buffer.data()[1000] ^= 1;
    buffer.data()[1000 + 4095] ^= 1;
    buffer.data()[-4096] ^= 1;
    CHECK(buffer.damage().bytes == 2);
  }
}

TEST_CASE("a digest tells any byte, and not where the buffer lies") {
  auto one = GuardedBuffer::make(1003), other = GuardedBuffer::make(1003, 5);
  REQUIRE((one.ok() && other.ok()));
  std::memset(one->data(), 7, 1003);
  std::memset(other->data(), 7, 1003);
  const uint64_t before = one->digest(1);
  CHECK(other->digest(1) == before);
  CHECK(one->digest(2) != before);
  for (uint64_t at : {0, 7, 8, 999, 1000, 1002}) {
    other->data()[at] ^= 1;
    CHECK(other->digest(1) != before);
    other->data()[at] ^= 1;
  }
  auto shorter = GuardedBuffer::make(1002);
  REQUIRE(shorter.ok());
  std::memset(shorter->data(), 7, 1002);
  CHECK(shorter->digest(1) != before);
}

TEST_CASE("a buffer may be empty, and too large a one is an error") {
  CHECK(GuardedBuffer::make(0).ok());
  CHECK(GuardedBuffer::make(0)->damage().bytes == 0);
  const auto huge = GuardedBuffer::make(uint64_t{1} << 60);
  REQUIRE_FALSE(huge.ok());
  CHECK(huge.error().find("memory is short") != std::string::npos);
}

}  // namespace
}  // namespace purlin::tools
