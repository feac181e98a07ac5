// Choosing one Atom of a catalogue for what a program needs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "plugin/registry.h"

namespace purlin::plugin {

struct Need {
  uint64_t capabilities = PURLIN_CAP_COPY | PURLIN_CAP_PACKETS | PURLIN_CAP_SIGNALS;
  int dtype = -1;        // purlin_dtype when the program reduces, else -1
  int op = -1;           // purlin_op when the program reduces, else -1
  uint32_t sources = 0;  // most sources of one reducing segment, 0 when it does not matter
};

// What a communicator's Atom does: every collective of `nranks` ranks, 0 for any number of them.
Need every_collective(int nranks);

// A candidate that was looked at before the bound one and could not serve, or the reason why a
// better-placed one lost.
struct Passed {
  std::filesystem::path path;
  std::string name;
  Verdict verdict;
};

struct BoundAtom {
  const purlin_atom_descriptor* descriptor = nullptr;
  std::filesystem::path path;
  std::shared_ptr<const Plugin> plugin;
  std::string rule;  // why this one: "named-by-policy", "closer-architecture", …, "only-one"
  std::string reason;
  std::vector<Passed> passed;  // what an automatic choice fell back from, and why
};

// The first candidate in total order that serves `need`. PURLIN_PLUGIN_ERROR with the whole trace
// when there is none, or when the policy names Atoms and none of them can serve. A denied Atom is
// never returned. Thread-safe.
Result<BoundAtom> choose(const Catalogue& catalogue, const Need& need);

}  // namespace purlin::plugin
