#include "tools/timing.h"

#include <doctest/doctest.h>

namespace purlin::tools {
namespace {

TEST_CASE("figures of a list of samples") {
  const Timing odd = summarize({3, 1, 2}, 4);
  CHECK(odd.median == 2);
  CHECK(odd.average == 2);
  CHECK(odd.least == 1);
  CHECK(odd.most == 3);
  CHECK(odd.calls == 12);
  CHECK(summarize({1, 2, 3, 10}, 1).median == 2.5);
  CHECK(summarize({}, 1).calls == 0);
  std::vector<double> hundred;
  for (int i = 1; i <= 100; ++i) hundred.push_back(i);
  CHECK(summarize(hundred, 1).p99 == 99);
  hundred.push_back(101);
  CHECK(summarize(hundred, 1).p99 == 100);
  CHECK(summarize({5}, 1).p99 == 5);
}

TEST_CASE("calls are made in batches until one fails") {
  int calls = 0;
  const auto fine = [&] {
    ++calls;
    return done();
  };
  const auto samples = time_calls(fine, 3, 5);
  REQUIRE(samples.ok());
  CHECK(samples->size() == 3);
  CHECK(calls == 15);
  const auto fails = [&]() -> Done {
    if (++calls == 20) return Error{"the twentieth"};
    return done();
  };
  CHECK(time_calls(fails, 100, 1).error() == "the twentieth");
  CHECK(calls == 20);
}

TEST_CASE("how many calls are timed follows from how long they take") {
  CHECK(plan_calls(1).batch == 20);
  CHECK(plan_calls(1).batches == 1000);  // capped at 20,000 calls
  CHECK(plan_calls(100).batch == 1);
  CHECK(plan_calls(100).batches == 600);
  CHECK(plan_calls(1e6).batches == 10);
  CHECK(plan_calls(0).batches * plan_calls(0).batch == 20'000);
}

}  // namespace
}  // namespace purlin::tools
