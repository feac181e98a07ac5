#include "level.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "run_totals.h"

namespace purlin::test {
namespace {

std::atomic<uint64_t> skips{0};
std::atomic<uint64_t> cases{0};

[[noreturn]] void refuse(const char* variable, const char* value, const char* wanted) {
  std::fprintf(stderr, "%s is \"%s\", but must be %s\n", variable, value, wanted);
  std::exit(2);
}

Level read_level() {
  const char* text = std::getenv("PURLIN_TEST_LEVEL");
  if (text == nullptr || std::string_view(text) == "quick") return Level::kQuick;
  if (std::string_view(text) == "full") return Level::kFull;
  if (std::string_view(text) == "sample") return Level::kSample;
  refuse("PURLIN_TEST_LEVEL", text, "sample, quick or full");
}

uint64_t todays_date() {
  const std::time_t now = std::time(nullptr);
  std::tm day{};
  gmtime_r(&now, &day);
  const int64_t number = int64_t{day.tm_year + 1900} * 10000 + (day.tm_mon + 1) * 100 + day.tm_mday;
  return static_cast<uint64_t>(number);
}

uint64_t read_seed() {
  const char* text = std::getenv("PURLIN_TEST_SEED");
  if (text == nullptr || *text == '\0') return todays_date();
  char* end = nullptr;
  const uint64_t value = std::strtoull(text, &end, 10);
  if (*end != '\0') refuse("PURLIN_TEST_SEED", text, "a whole number");
  return value;
}

}  // namespace

Level level() {
  static const Level value = read_level();
  return value;
}

uint64_t seed() {
  static const uint64_t value = read_seed();
  return value;
}

void skip(std::string_view reason) {
  skips.fetch_add(1, std::memory_order_relaxed);
  std::printf("SKIP %.*s\n", static_cast<int>(reason.size()), reason.data());
  std::fflush(stdout);
}

void count_cases(uint64_t number) { cases.fetch_add(number, std::memory_order_relaxed); }

RunTotals run_totals() { return {cases.load(), skips.load()}; }

}  // namespace purlin::test
