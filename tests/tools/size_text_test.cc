#include "tools/size_text.h"

#include <doctest/doctest.h>

namespace purlin::tools {
namespace {

TEST_CASE("sizes are read exactly") {
  CHECK(*parse_size("0") == 0);
  CHECK(*parse_size("4096") == 4096);
  CHECK(*parse_size("7B") == 7);
  CHECK(*parse_size("64KiB") == 65536);
  CHECK(*parse_size("1 MiB") == 1048576);
  CHECK(*parse_size("2GiB") == uint64_t{1} << 31);
  CHECK(*parse_size("18446744073709551615") == UINT64_MAX);
}

TEST_CASE("anything else is refused with what to write instead") {
  for (const char* text : {"", "-1", "8kb", "1e6", "0x2000", "8192.0", "8 192", "KiB", "64kib",
                           "18446744073709551616", "16777216TiB", "4096 ", " 4096", "1  KiB"}) {
    CAPTURE(text);
    const auto size = parse_size(text);
    REQUIRE_FALSE(size.ok());
    CHECK(size.error().find("64KiB") != std::string::npos);
  }
  CHECK(parse_size("8K").error().find("\"8KiB\"") != std::string::npos);
  CHECK(parse_size("8MB").error().find("MiB") != std::string::npos);
}

TEST_CASE("a written size reads back") {
  CHECK(format_size(0) == "0B");
  CHECK(format_size(1000) == "1000B");
  CHECK(format_size(65536) == "64KiB");
  CHECK(format_size(3 << 20) == "3MiB");
  for (uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{1023}, uint64_t{1} << 40, UINT64_MAX})
    CHECK(*parse_size(format_size(bytes)) == bytes);
}

TEST_CASE("a series ends at the last size that fits") {
  CHECK(size_series(1024, 1 << 20, 16) == std::vector<uint64_t>{1024, 16384, 262144});
  CHECK(size_series(8, 64, 2) == std::vector<uint64_t>{8, 16, 32, 64});
  CHECK(size_series(0, 4, 2) == std::vector<uint64_t>{0, 1, 2, 4});
  CHECK(size_series(8, 4, 2).empty());
  CHECK(size_series(uint64_t{1} << 63, UINT64_MAX, 2).size() == 1);
}

}  // namespace
}  // namespace purlin::tools
