// The Atom under test, as a child process that has loaded it sees it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "purlin/purlin.h"

namespace purlin::tools::check {

struct Subject {
  std::string path;
  nlohmann::json atom;                                 // the loader's report on it
  const purlin_atom_descriptor* descriptor = nullptr;  // null for an Atom without host code
  uint64_t seed = 1;
  bool full = false;

  // What the Atom declares, also for one without host code. Operations are those it carries out by
  // itself.
  purlin_atom_limits limits() const;

  bool host() const { return atom.value("kind", "") == "host"; }
  // Each requirement has a sequence of its own, so that one alone repeats what it did among all.
  std::mt19937_64 random(int number) const {
    return std::mt19937_64(seed * 1000 + static_cast<uint64_t>(number));
  }
  uint64_t times(uint64_t quick, uint64_t all) const { return full ? all : quick; }
};

}  // namespace purlin::tools::check
