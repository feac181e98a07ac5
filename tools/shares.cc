#include "tools/shares.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <numeric>
#include <random>

#include "purlin/purlin.h"

namespace purlin::tools {
namespace {

// `units` in proportion to `weights`, by largest remainder, ties to lower indices.
std::vector<uint64_t> apportion(uint64_t units, const std::vector<double>& weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<uint64_t> shares(weights.size(), 0);
  if (total <= 0) return shares;
  std::vector<double> remainders(weights.size());
  uint64_t given = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const double exact = static_cast<double>(units) * weights[i] / total;
    shares[i] = static_cast<uint64_t>(exact);
    remainders[i] = exact - static_cast<double>(shares[i]);
    given += shares[i];
  }
  std::vector<size_t> order(weights.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return remainders[a] > remainders[b]; });
  for (size_t i = 0; given < units; i = (i + 1) % order.size(), ++given) ++shares[order[i]];
  return shares;
}

std::vector<double> random_weights(const Skew& skew, uint64_t bytes, int row, int nranks) {
  std::seed_seq seeds{skew.seed, skew.seed >> 32, bytes, bytes >> 32, static_cast<uint64_t>(row)};
  std::mt19937_64 generator(seeds);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> weights;
  for (int p = 0; p < nranks; ++p) {
    const bool empty = uniform(generator) < skew.zero_fraction;
    const double weight = uniform(generator);
    weights.push_back(empty ? 0 : weight + 1e-3);
  }
  return weights;
}

std::vector<uint64_t> row_counts(const Skew& skew, uint64_t bytes, int row, int nranks,
                                 uint64_t element_bytes) {
  const uint64_t elements = bytes / element_bytes;
  switch (skew.kind) {
    case Skew::Kind::kZipf: {
      const uint64_t wanted = bytes < 128 ? element_bytes : std::max<uint64_t>(128, bytes / 64);
      const uint64_t unit = wanted / element_bytes;
      std::vector<uint64_t> counts = zipf_shares(elements / unit, nranks, skew.exponent);
      for (uint64_t& count : counts) count *= unit;
      return counts;
    }
    case Skew::Kind::kRandom:
      return apportion(elements, random_weights(skew, bytes, row, nranks));
    default:
      return std::vector<uint64_t>(static_cast<size_t>(nranks),
                                   elements / static_cast<uint64_t>(nranks));
  }
}

}  // namespace

Outcome<Skew> parse_skew(std::string_view text) {
  Skew skew;
  if (text == "uniform") return skew;
  if (text.starts_with("zipf:")) {
    const std::string_view number = text.substr(5);
    const auto [end, fault] =
        std::from_chars(number.data(), number.data() + number.size(), skew.exponent);
    if (fault == std::errc{} && end == number.data() + number.size() && skew.exponent >= 0 &&
        std::isfinite(skew.exponent)) {
      skew.kind = Skew::Kind::kZipf;
      return skew;
    }
  }
  return Error{
      fmt::format("\"{}\" is not a skew. Write uniform, or zipf:EXPONENT with an exponent "
                  "of zero or more, such as zipf:0.125.",
                  text)};
}

std::vector<uint64_t> zipf_shares(uint64_t units, int nranks, double exponent) {
  std::vector<double> weights;
  for (int r = 0; r < nranks; ++r) weights.push_back(1 / std::pow(r + 1.0, exponent));
  return apportion(units, weights);
}

std::vector<uint64_t> part_counts(const Skew& skew, uint64_t bytes, int nranks,
                                  uint64_t element_bytes) {
  return row_counts(skew, bytes, 0, nranks, element_bytes);
}

CountMatrix counts_for(int collective, const Skew& skew, uint64_t bytes, int nranks,
                       uint64_t element_bytes) {
  if (skew.kind == Skew::Kind::kFile) return skew.file;
  const size_t n = static_cast<size_t>(nranks);
  if (collective == PURLIN_ALL_GATHER_V || collective == PURLIN_REDUCE_SCATTER_V)
    return {part_counts(skew, bytes, nranks, element_bytes)};
  CountMatrix matrix(n, std::vector<uint64_t>(n, 0));
  const bool ring = collective == PURLIN_SEND_RECV && skew.kind == Skew::Kind::kUniform;
  for (size_t r = 0; r < n; ++r) {
    const auto shares = row_counts(skew, bytes, static_cast<int>(r), nranks, element_bytes);
    for (size_t p = 0; p < n && !ring; ++p)
      matrix[r][p] = skew.kind == Skew::Kind::kRandom ? shares[p] : shares[(p + r) % n];
    if (ring) matrix[r][(r + 1) % n] = bytes / element_bytes;
  }
  return matrix;
}

Outcome<CountMatrix> read_counts(const std::string& path, int rows, int columns) {
  std::ifstream file(path);
  if (!file)
    return Error{
        fmt::format("{}: the counts file cannot be read; check the path and its mode", path)};
  CountMatrix matrix;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    line.erase(std::min(line.find('#'), line.size()));
    std::vector<uint64_t> row;
    for (const char *at = line.data(), *end = at + line.size(); at != end;) {
      if (*at == ' ' || *at == '\t' || *at == ',' || *at == '\r') {
        ++at;
        continue;
      }
      uint64_t count = 0;
      const auto [rest, fault] = std::from_chars(at, end, count);
      if (fault != std::errc{} ||
          (rest != end && std::string_view(" \t,\r").find(*rest) == std::string_view::npos))
        return Error{
            fmt::format("{}:{}: \"{}\" is not a whole number of elements of at most 64 "
                        "bits; write numbers separated by blanks or commas",
                        path, number, std::string_view(at, static_cast<size_t>(end - at)))};
      row.push_back(count);
      at = rest;
    }
    if (row.empty()) continue;
    if (row.size() != static_cast<size_t>(columns))
      return Error{fmt::format("{}:{}: this row has {} counts where {} ranks need {}", path, number,
                               row.size(), columns, columns)};
    matrix.push_back(std::move(row));
  }
  if (matrix.size() != static_cast<size_t>(rows))
    return Error{fmt::format("{}: the file has {} rows where {} are needed: {}", path,
                             matrix.size(), rows,
                             rows == 1 ? "one row with the count of each rank's part"
                                       : "row r holds what rank r sends to each rank")};
  return matrix;
}

}  // namespace purlin::tools
