// The catalogue: every folder, file and verdict, and the Atoms that fit a device in total order.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "plugin/finder.h"
#include "plugin/judge.h"
#include "plugin/selection.h"
#include "plugin/verdict.h"
#include "purlin/atom_abi.h"
#include "status/status.h"

namespace purlin::plugin {

struct CatalogueFolder {
  FoundFolder found;
  std::vector<Judged> files;  // one for each of found.entries
};

// One usable plugin against one device. `fit.accepted` says whether it can serve there.
struct Candidate {
  std::shared_ptr<const Plugin> plugin;
  Verdict fit;
  int named = -1;  // index into Selection::prefer, -1 when the policy does not name it
  std::size_t search_index = 0;  // position in the search: folders in order, files by name
  // For every candidate that fits but for the first: the rule by which the first won over it
  // ("named-by-policy", "closer-architecture", …) and a sentence that says so.
  std::string beaten_by;
  std::string beaten_reason;
};

// One word of Selection::prefer. Accepted: at least one usable plugin answers to it.
struct NamedWord {
  Stated word;
  Verdict verdict;
};

struct Catalogue {
  purlin_device_facts facts{};  // its name is null; device_name holds it
  std::string device_name;
  Selection selection;
  std::vector<CatalogueFolder> folders;
  std::vector<Candidate> candidates;  // those that fit first, in total order, then the others
  std::vector<NamedWord> named;       // one for each word of Selection::prefer but "auto"
};

// Searches, judges and orders. Never fails: what cannot be used carries its verdict. Loads plugins,
// never unloads them. Thread-safe; calls are independent of each other.
Catalogue discover(const Selection& selection, const purlin_device_facts& facts);

// The facts of the host device, for discover.
purlin_device_facts host_device_facts();

}  // namespace purlin::plugin
