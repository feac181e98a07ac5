// The places where policies are sought, in order.
#pragma once

#include <string>
#include <vector>

#include "policy/overrides.h"

namespace purlin::policy {

struct SearchFolder {
  std::string path;     // empty where `missing` says why there is none
  std::string rule;     // "user's folder"
  std::string missing;  // "HOME is not set"
};

// The user's, the system's and the install's folder. None need exist.
std::vector<SearchFolder> search_folders(const Environment& environment);

// Files of a folder that may be policies, by name. `absent`: why the folder cannot be listed, or
// empty.
std::vector<std::string> policies_in(const std::string& folder, std::string& absent);

}  // namespace purlin::policy
