// The catalogue for people and for scripts.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "plugin/choice.h"
#include "plugin/registry.h"

namespace purlin::plugin {

// Everything in the catalogue, and the automatic choice for the least need under "chosen" (null
// with "choice_error" when there is none). Keys are documented in docs/plugins.md.
nlohmann::json catalogue_json(const Catalogue& catalogue);

// The same as lines of text, for error messages: every folder, file, verdict and remedy.
std::string catalogue_trace(const Catalogue& catalogue);

// discover() and catalogue_json() in one: what purlin_plugins() answers.
Result<nlohmann::json> plugins_report(const Selection& selection, const purlin_device_facts& facts);

}  // namespace purlin::plugin
