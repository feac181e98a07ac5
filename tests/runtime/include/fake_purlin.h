// A stand-in for libpurlin's C functions that records what purlin.hpp passes to them. It takes the
// place of the real ones at link time, so these tests see the header alone.
#pragma once

#include <string>
#include <vector>

#include "purlin/purlin.h"

struct FakePurlin {
  int rank = 1;
  int size = 4;
  purlin_status next = PURLIN_OK;  // what the next collective returns
  std::string error = "the fake's error text";

  purlin_call call{};                  // of the last purlin_run
  std::vector<std::string> functions;  // names, in call order; creation to destruction
  int live = 0;                        // handles created and not yet destroyed
};
// The one in use; tests reset it.
FakePurlin& fake();
