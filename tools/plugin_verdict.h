// What the library says of one plugin file or folder.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/outcome.h"

namespace purlin::tools {

// Why a plugin is not taken, or that it is.
struct PluginVerdict {
  bool accepted = false;
  std::string rule, reason, remedy;  // as docs/plugins.md has them
  nlohmann::json atom;               // the report's entry for the Atom; null unless it was accepted
  PluginVerdict fit() const;         // whether it can serve the device that was asked for
  nlohmann::json fit_verdict;
};

// The text of a policy under which the plugin at this absolute path serves, or nothing.
std::string policy_for_plugin(const std::string& path);

// Loads the plugin into this process, as the library does: nothing protects this process from what
// it does. `device` is "host" or like "sm_90". Fails when the library cannot be asked.
Outcome<PluginVerdict> judge_plugin(const std::string& path, const std::string& device);

}  // namespace purlin::tools
