// Runs the doctest cases of one executable, then prints what a reader needs to repeat the run.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cinttypes>
#include <cstdio>

#include "level.h"
#include "run_totals.h"

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const int result = context.run();
  if (context.shouldExit()) return result;  // a query such as --list-test-cases
  const purlin::test::RunTotals totals = purlin::test::run_totals();
  std::printf("TOTAL level=%s seed=%" PRIu64 " cases=%" PRIu64 " skips=%" PRIu64 "\n",
              purlin::test::is_full()     ? "full"
              : purlin::test::is_sample() ? "sample"
                                          : "quick",
              purlin::test::seed(), totals.cases, totals.skips);
  return result;
}
