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

TEST_CASE("a buffer may be empty, and too large a one is an error") {
  CHECK(GuardedBuffer::make(0).ok());
  CHECK(GuardedBuffer::make(0)->damage().bytes == 0);
  const auto huge = GuardedBuffer::make(uint64_t{1} << 60);
  REQUIRE_FALSE(huge.ok());
  CHECK(huge.error().find("memory is short") != std::string::npos);
}

}  // namespace
}  // namespace purlin::tools
