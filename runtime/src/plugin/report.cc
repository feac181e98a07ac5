#include "plugin/report.h"

#include <fmt/format.h>

#include <vector>

#include "plugin/descriptor_check.h"

namespace purlin::plugin {
namespace {

using nlohmann::json;

json verdict_json(const Verdict& verdict) {
  return {{"accepted", verdict.accepted},
          {"rule", verdict.rule},
          {"reason", verdict.reason},
          {"remedy", verdict.remedy}};
}

// Judged, so every record has its first published members at least.
json images_json(const purlin_atom_descriptor& atom) {
  json images = json::array();
  for (uint64_t i = 0; i < atom.image_count; ++i) {
    const purlin_atom_image& image = *image_at(atom, i);
    images.push_back({{"name", image.name != nullptr ? image.name : ""},
                      {"kind", image.kind},
                      {"role", image.role},
                      {"dtype", image.dtype},
                      {"base", image.base},
                      {"specific", image.arch_specific},
                      {"bytes", image.bytes}});
  }
  return images;
}

json limits_json(const purlin_atom_limits& limits) {
  return {{"max_sources", limits.max_sources},
          {"max_destinations", limits.max_destinations},
          {"min_stages", limits.min_stages},
          {"max_stages", limits.max_stages},
          {"default_stages", limits.default_stages},
          {"min_stage_bytes", limits.min_stage_bytes},
          {"max_stage_bytes", limits.max_stage_bytes},
          {"default_stage_bytes", limits.default_stage_bytes},
          {"min_threads", limits.min_threads},
          {"max_threads", limits.max_threads},
          {"default_threads", limits.default_threads},
          {"shared_bytes_fixed", limits.shared_bytes_fixed}};
}

// Of the types that this library knows.
json op_masks(const purlin_atom_limits& limits) {
  return std::vector<uint32_t>(limits.op_mask, limits.op_mask + PURLIN_DTYPE_COUNT);
}

json atom_json(const Plugin& plugin) {
  const purlin_atom_descriptor& atom = *plugin.descriptor;
  return {{"name", atom.name},
          {"version", atom.version},
          {"vendor", atom.vendor},
          {"description", atom.description},
          {"kind", atom.kind == PURLIN_ATOM_HOST ? "host" : "cuda"},
          {"architecture", atom.architecture},
          {"priority", atom.priority},
          {"capabilities", atom.capabilities},
          {"abi", fmt::format("{}.{}", atom.abi_major, atom.abi_minor)},
          {"device_abi", atom.device_abi},
          {"data_only", plugin.data_only},
          {"limits", limits_json(*atom.limits)},
          {"op_mask", op_masks(*atom.limits)},
          {"images", images_json(atom)},
          {"path", plugin.path.string()}};
}

json folder_json(const CatalogueFolder& folder) {
  json files = json::array();
  for (const Judged& judged : folder.files) {
    json file = {{"path", judged.path.string()},
                 {"resolved", judged.resolved.string()},
                 {"verdict", verdict_json(judged.verdict)}};
    file["atom"] = judged.plugin != nullptr ? json(judged.plugin->descriptor->name) : json(nullptr);
    files.push_back(std::move(file));
  }
  return {{"origin", folder_origin_name(folder.found.origin)},
          {"where", folder.found.where},
          {"path", folder.found.asked.string()},
          {"resolved", folder.found.resolved.string()},
          {"verdict", verdict_json(folder.found.verdict)},
          {"files", std::move(files)}};
}

json candidate_json(const Candidate& candidate) {
  json out = {{"atom", atom_json(*candidate.plugin)},
              {"fit", verdict_json(candidate.fit)},
              {"named", candidate.named}};
  out["beaten_by"] = candidate.beaten_by.empty() ? json(nullptr) : json(candidate.beaten_by);
  out["beaten_reason"] = candidate.beaten_reason;
  return out;
}

void append(std::string* text, const Verdict& verdict) {
  *text += fmt::format("{} [{}]", verdict.reason.empty() ? "ok" : verdict.reason, verdict.rule);
  if (!verdict.accepted && !verdict.remedy.empty()) *text += "; " + verdict.remedy;
  *text += '\n';
}

}  // namespace

json catalogue_json(const Catalogue& catalogue) {
  json out = {{"device",
               {{"name", catalogue.device_name},
                {"kind", catalogue.facts.kind == PURLIN_ATOM_HOST ? "host" : "cuda"},
                {"architecture", catalogue.facts.cc_major * 10 + catalogue.facts.cc_minor}}},
              {"folders", json::array()},
              {"candidates", json::array()},
              {"named", json::array()}};
  for (const CatalogueFolder& folder : catalogue.folders) {
    out["folders"].push_back(folder_json(folder));
  }
  for (const Candidate& candidate : catalogue.candidates) {
    out["candidates"].push_back(candidate_json(candidate));
  }
  for (const NamedWord& named : catalogue.named) {
    out["named"].push_back({{"word", named.word.text},
                            {"where", named.word.where},
                            {"verdict", verdict_json(named.verdict)}});
  }
  // A communicator's Atom; the switch's serves beside it.
  const Result<BoundAtom> bound = choose(catalogue, every_collective(0));
  if (bound) {
    out["chosen"] = {{"name", bound->descriptor->name},
                     {"path", bound->path.string()},
                     {"rule", bound->rule},
                     {"reason", bound->reason}};
    out["choice_error"] = nullptr;
  } else {
    out["chosen"] = nullptr;
    out["choice_error"] = bound.status().message();
  }
  // File names are bytes; what is no UTF-8 is replaced here, so that nobody's dump() has to throw.
  return json::parse(out.dump(-1, ' ', false, json::error_handler_t::replace));
}

std::string catalogue_trace(const Catalogue& catalogue) {
  std::string text;
  for (const CatalogueFolder& folder : catalogue.folders) {
    text += fmt::format(
        "  {}: ", folder.found.asked.empty() ? folder.found.where : folder.found.asked.string());
    append(&text, folder.found.verdict);
    for (const Judged& judged : folder.files) {
      text += fmt::format("    {}: ", folder.found.asked.empty() ? judged.path.string()
                                                                 : judged.path.filename().string());
      append(&text, judged.verdict);
    }
  }
  for (const Candidate& candidate : catalogue.candidates) {
    text += fmt::format("  Atom {}: ", candidate.plugin->descriptor->name);
    append(&text, candidate.fit);
  }
  return text;
}

}  // namespace purlin::plugin
