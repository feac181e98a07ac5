#include "policy/quantity.h"

#include <doctest/doctest.h>

#include <string>

#include "level.h"

namespace purlin::policy {
namespace {

struct Refused {
  std::string text;
  std::string offered;  // spelling that the error offers, or ""
};

void check_refused(const std::string& error, const Refused& entry) {
  INFO(entry.text, " -> ", error);
  REQUIRE(!error.empty());
  CHECK(error.front() == '"');
  const std::string offer = "did you mean \"" + entry.offered + "\"?";
  CHECK((error.find("did you mean") != std::string::npos) == !entry.offered.empty());
  if (!entry.offered.empty()) CHECK(error.find(offer) != std::string::npos);
}

TEST_CASE("sizes are whole bytes or binary units") {
  CHECK(parse_size("0").value == 0);
  CHECK(parse_size("8192").value == 8192);
  CHECK(parse_size("64KiB").value == 65536);
  CHECK(parse_size("1MiB").value == 1u << 20);
  CHECK(parse_size("2GiB").value == 2ull << 30);
  CHECK(parse_size("9223372036854775807").value == 9223372036854775807ull);
  CHECK(parse_size("8589934591GiB").value == 8589934591ull << 30);
  for (const char* text : {"0", "8192", "64KiB", "1MiB", "2GiB", "9223372036854775807"})
    CHECK(parse_size(text).is_ok());
}

TEST_CASE("every other spelling of a size is refused with what was meant") {
  const Refused table[] = {
      {"8K", "8KiB"},     {"8kb", "8KiB"},       {"8k", "8KiB"},
      {"8kib", "8KiB"},   {"8KIB", "8KiB"},      {"8MB", "8MiB"},
      {"8G", "8GiB"},     {"1e6", "1000000"},    {"0x2000", "8KiB"},
      {"8192.0", "8KiB"}, {"8192.", "8KiB"},     {"-1", ""},
      {"8 192", "8KiB"},  {"8_192", "8KiB"},     {"8,192", "8KiB"},
      {" 8192", "8KiB"},  {"8192 ", "8KiB"},     {"+8192", "8KiB"},
      {"08192", "8KiB"},  {"64 KiB", "64KiB"},   {"", ""},
      {"1.5MiB", ""},     {"KiB", ""},           {"many", ""},
      {"0x", ""},         {"0xfg", ""},          {"8TiB", ""},
      {"8KiB ", "8KiB"},  {"8192bytes", "8192"}, {"8192B", "8192"},
      {"1e99", ""},       {"8KiBs", ""},
  };
  for (const Refused& entry : table) check_refused(parse_size(entry.text).error, entry);
}

TEST_CASE("sizes of 2^63 and beyond are refused as too large") {
  for (const char* text : {"9223372036854775808", "18446744073709551616", "8589934592GiB",
                           "99999999999999999999999999", "9223372036854775807KiB"}) {
    INFO(std::string(text));
    CHECK(parse_size(text).error.find("too large") != std::string::npos);
  }
}

TEST_CASE("counts are decimal digits") {
  CHECK(parse_count("24").value == 24);
  const Refused table[] = {{"2.0", "2"}, {"0x10", "16"},    {"-2", ""},   {"two", ""},
                           {"", ""},     {"1 000", "1000"}, {"007", "7"}, {"1KiB", ""}};
  for (const Refused& entry : table) check_refused(parse_count(entry.text).error, entry);
}

TEST_CASE("durations need a unit") {
  using std::chrono::milliseconds;
  CHECK(parse_duration("500ms").value == milliseconds(500));
  CHECK(parse_duration("30s").value == milliseconds(30'000));
  CHECK(parse_duration("10min").value == milliseconds(600'000));
  CHECK(parse_duration("1440min").value == milliseconds(86'400'000));
  const Refused table[] = {
      {"10", "10s"}, {"10m", "10min"}, {"10 s", "10s"}, {"10sec", "10s"}, {"10minutes", "10min"},
      {"1.5s", ""},  {"", ""},         {"10S", "10s"},  {"-1s", ""},      {"5millisec", "5ms"}};
  for (const Refused& entry : table) check_refused(parse_duration(entry.text).error, entry);
  for (const char* text : {"0s", "0ms", "1441min", "86400001ms", "9223372036854775807min"}) {
    INFO(std::string(text));
    CHECK(parse_duration(text).error.find("outside 1ms..1440min") != std::string::npos);
  }
}

TEST_CASE("a boundary of a range of sizes belongs to the lower side") {
  const auto range = parse_byte_range("64KiB..1MiB").value;
  CHECK_FALSE(range.contains(65536));
  CHECK(range.contains(65537));
  CHECK(range.contains(1u << 20));
  CHECK_FALSE(range.contains((1u << 20) + 1));
  CHECK(parse_byte_range("0..64KiB").value.contains(0));
  CHECK(parse_byte_range("..64KiB").value == parse_byte_range("0..64KiB").value);
  CHECK(parse_byte_range("0..0").value.contains(0));
  CHECK_FALSE(parse_byte_range("0..0").value.contains(1));
  CHECK(parse_byte_range("1MiB..").value.contains(~0ull));
}

TEST_CASE("bad ranges of sizes say how to write them") {
  CHECK(parse_byte_range("1MiB..64KiB").error.find("64KiB..1MiB") != std::string::npos);
  CHECK(parse_byte_range("1MiB..1MiB").error.find("ends where it begins") != std::string::npos);
  CHECK(parse_byte_range("1MiB").error.find("0..1MiB") != std::string::npos);
  CHECK(parse_byte_range("1M..2M").error.find("1MiB") != std::string::npos);
  CHECK(parse_byte_range("1MiB..2M").error.find("2MiB") != std::string::npos);
  for (const char* text : {"..", "", "...", "1..2..3", "a..b", "1-2"}) {
    INFO(std::string(text));
    CHECK_FALSE(parse_byte_range(text).is_ok());
  }
}

TEST_CASE("both ends of a range of ranks belong to it") {
  const auto range = parse_rank_range("2..8").value;
  CHECK_FALSE(range.contains(1));
  CHECK(range.contains(2));
  CHECK(range.contains(8));
  CHECK_FALSE(range.contains(9));
  CHECK(parse_rank_range("4..").value == RankRange{4, PURLIN_MAX_RANKS});
  CHECK(parse_rank_range("..4").value == RankRange{1, 4});
  CHECK(parse_rank_range("2").value == RankRange{2, 2});
  CHECK(parse_rank_range("8..2").error.find("2..8") != std::string::npos);
  CHECK(parse_rank_range("2-8").error.find("2..8") != std::string::npos);
  for (const char* text : {"0", "65", "2..65", "..", "", "x", "2..x", "-1", "1e1"}) {
    INFO(std::string(text));
    CHECK_FALSE(parse_rank_range(text).is_ok());
  }
}

TEST_CASE("what is formatted parses back to the same value") {
  uint64_t state = test::seed() | 1;
  for (int i = 0; i < 2000; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const uint64_t size = (state >> 1) >> (state % 63) << (i % 31);
    if (size >> 63 != 0) continue;
    CHECK(parse_size(format_size(size)).value == size);
    const std::chrono::milliseconds time(1 + static_cast<int64_t>(state % 86'400'000));
    CHECK(parse_duration(format_duration(time)).value == time);
  }
  test::count_cases(2000);
  for (const char* text : {"64KiB..1MiB", "1MiB..", "0..64KiB", "0..0"})
    CHECK(format(parse_byte_range(text).value) == text);
  for (const char* text : {"2", "2..8"}) CHECK(format(parse_rank_range(text).value) == text);
}

}  // namespace
}  // namespace purlin::policy
