#include <doctest/doctest.h>
#include "status/status.h"
TEST_CASE("a status carries its code and message") {
  purlin::Status s(PURLIN_TIMEOUT, "peer 3");
  CHECK_FALSE(s.is_ok());
  CHECK(s.with_context("all_reduce").message() == "all_reduce: peer 3");
  CHECK(purlin::Result<int>(3).value() == 3);
  CHECK(purlin::Result<int>(s).status().code() == PURLIN_TIMEOUT);
}
