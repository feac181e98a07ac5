// The catalogue for people and for scripts.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "plugin/choice.h"
#include "plugin/registry.h"

namespace purlin::plugin {

// Everything in the catalogue, and the Atom that a communicator would have under "chosen" (null with
// "choice_error" when there is none). Keys are documented in docs/plugins.md.
nlohmann::json catalogue_json(const Catalogue& catalogue);

// The same as lines of text, for error messages: every folder, file, verdict and remedy.
std::string catalogue_trace(const Catalogue& catalogue);

}  // namespace purlin::plugin
