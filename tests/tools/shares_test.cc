#include "tools/shares.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "purlin/purlin.h"

namespace purlin::tools {
namespace {

Skew zipf() { return *parse_skew("zipf:0.125"); }

uint64_t sum(const std::vector<uint64_t>& row) {
  return std::accumulate(row.begin(), row.end(), uint64_t{0});
}

TEST_CASE("zipf shares of eight ranks") {
  CHECK(zipf_shares(64, 8, 0.125) == std::vector<uint64_t>{9, 9, 8, 8, 8, 8, 7, 7});
  CHECK(zipf_shares(16, 8, 0.125) == std::vector<uint64_t>(8, 2));
  CHECK(zipf_shares(8, 8, 0.125) == std::vector<uint64_t>(8, 1));
  CHECK(zipf_shares(0, 8, 0.125) == std::vector<uint64_t>(8, 0));
  CHECK(sum(zipf_shares(12345, 7, 1.5)) == 12345);
}

TEST_CASE("zipf parts come in units of 128 bytes or a 64th") {
  CHECK(part_counts(zipf(), 1024, 8, 4) == std::vector<uint64_t>(8, 32));
  CHECK(part_counts(zipf(), 2048, 8, 4) == std::vector<uint64_t>(8, 64));
  const auto large = part_counts(zipf(), 1 << 20, 8, 2);
  CHECK(sum(large) == (1 << 19));
  CHECK(large.front() == 9 * (1 << 20) / 64 / 2);
  CHECK(static_cast<double>(large.front()) == 1.125 * static_cast<double>(sum(large)) / 8);
  CHECK(sum(part_counts(zipf(), 24, 8, 8)) == 3);
}

TEST_CASE("in all_to_all_v every rank sends and receives the whole size") {
  const CountMatrix counts = counts_for(PURLIN_ALL_TO_ALL_V, zipf(), 1 << 16, 8, 4);
  REQUIRE(counts.size() == 8);
  for (size_t r = 0; r < 8; ++r) {
    uint64_t received = 0;
    for (size_t p = 0; p < 8; ++p) received += counts[p][r];
    CHECK(sum(counts[r]) == (1 << 14));
    CHECK(received == (1 << 14));
  }
  CHECK(counts[0] == part_counts(zipf(), 1 << 16, 8, 4));
  CHECK(counts[3][0] == counts[0][3]);
}

TEST_CASE("random parts fill the size, leave some empty and follow the seed") {
  Skew skew;
  skew.kind = Skew::Kind::kRandom;
  skew.seed = 7;
  const CountMatrix counts = counts_for(PURLIN_ALL_TO_ALL_V, skew, 1 << 20, 8, 4);
  int empty = 0;
  for (const auto& row : counts) {
    CHECK((sum(row) == (1 << 18) || sum(row) == 0));
    for (uint64_t count : row) empty += count == 0;
  }
  CHECK(empty > 4);
  CHECK(empty < 40);
  CHECK(counts == counts_for(PURLIN_ALL_TO_ALL_V, skew, 1 << 20, 8, 4));
  skew.seed = 8;
  CHECK(counts != counts_for(PURLIN_ALL_TO_ALL_V, skew, 1 << 20, 8, 4));
}

TEST_CASE("send_recv without skew is a ring") {
  const CountMatrix counts = counts_for(PURLIN_SEND_RECV, Skew{}, 4096, 3, 4);
  CHECK(counts == CountMatrix{{0, 1024, 0}, {0, 0, 1024}, {1024, 0, 0}});
}

TEST_CASE("a skew is uniform or zipf with an exponent") {
  CHECK(parse_skew("uniform")->kind == Skew::Kind::kUniform);
  for (const char* text : {"", "zipf", "zipf:", "zipf:x", "zipf:-1", "zipf:1x", "zipf:inf"})
    CHECK_FALSE(parse_skew(text).ok());
}

TEST_CASE("counts files") {
  const auto path = std::filesystem::temp_directory_path() / "purlin counts_test.txt";
  const auto write = [&](const char* text) { std::ofstream(path) << text; };
  write("# senders in rows\n1, 2\n\n 3\t4  # last\r\n");
  CHECK(*read_counts(path, 2, 2) == CountMatrix{{1, 2}, {3, 4}});
  CHECK(read_counts(path, 1, 2).error().find("2 rows where 1") != std::string::npos);
  CHECK(read_counts(path, 2, 3).error().find(":2: this row has 2") != std::string::npos);
  write("1 2\n3 4x\n");
  CHECK(read_counts(path, 2, 2).error().find(":2: \"4x\"") != std::string::npos);
  write("1 -2\n");
  CHECK_FALSE(read_counts(path, 1, 2).ok());
  std::filesystem::remove(path);
  CHECK(read_counts(path, 1, 2).error().find("cannot be read") != std::string::npos);
}

}  // namespace
}  // namespace purlin::tools
