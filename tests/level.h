// How hard the tests work, from where their random numbers start, and what they left out.
//
// PURLIN_TEST_LEVEL (sample, quick, full) and PURLIN_TEST_SEED (a whole number) come from ./test.sh.
// Without them the level is quick and the seed today's date, so a failure seen on one day can be
// repeated on the next by setting the seed that was printed. main.cc prints both after every run.
#pragma once

#include <cstdint>
#include <string_view>

namespace purlin::test {

// kSample is kQuick of which long sweeps try a part, for sanitized code, which is many times slower.
enum class Level { kSample, kQuick, kFull };

// Level of this run. Any other value of PURLIN_TEST_LEVEL ends the process with status 2.
Level level();
inline bool is_full() { return level() == Level::kFull; }
inline bool is_sample() { return level() == Level::kSample; }

// Whether a sweep tries its next input: in level sample one of about `of`, drawn from the sweep's own
// generator; in the other levels each, and nothing is drawn.
template <class Random>
bool is_tried(Random& random, uint64_t of) {
  return !is_sample() || random() % of == 0;
}

// Start of every random sequence: mix it with a number of the test's own, never use a clock.
// A PURLIN_TEST_SEED that is not a number ends the process with status 2.
uint64_t seed();

// Prints "SKIP reason" and counts it; the caller then returns. For what this machine cannot do,
// never for what fails. Thread-safe.
void skip(std::string_view reason);

// Counts inputs that a sweep tried and verified; printed as the run's total. Thread-safe.
void count_cases(uint64_t number);

}  // namespace purlin::test
