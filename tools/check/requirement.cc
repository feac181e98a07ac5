#include "tools/check/requirement.h"

#include <array>
#include <string_view>

namespace purlin::tools::check {
namespace {

constexpr std::array<Requirement, kCount> kRequirements = {{
    {kFile, "file", "one whole, safe file for this machine, or a folder with atom.yaml"},
    {kExports, "exports", "exports its entry and nothing else"},
    {kVersions, "versions", "built for ABI versions that this Purlin serves"},
    {kLoads, "loads", "loads with every symbol resolved, and its entry returns"},
    {kDescriptor, "descriptor", "the descriptor is complete, in range, and lies in the plugin"},
    {kQuiet, "quiet", "loading prints nothing, changes nothing and needs no library of CUDA"},
    {kProbe, "probe", "the probe is pure and ends its text within the room it is given"},
    {kCapabilities, "capabilities", "capabilities are known and agree with the limits"},
    {kImages, "images", "every image is whole, and each declared reduction has one"},
    {kLinks, "links", "programs link for every device that the Atom declares"},
    {kWalk, "walk", "segments are walked in order, each with ready and then done"},
    {kCopy, "copy", "copies reach every destination, byte for byte, at any alignment"},
    {kStop, "stop", "after a stop nothing more is asked, announced or written"},
    {kReduce, "reduce", "every declared dtype and operation reduces as the reference does"},
    {kScale, "scale", "a scaled part is rounded as the reference does"},
    {kScore, "score", "bits depend on values and their order alone"},
    {kEnvironment, "environment",
     "the caller's floating-point environment does not matter or change"},
    {kPackets, "packets", "packets arrive whole in any order, with any delay"},
    {kOrder, "order", "what was written before a signal or packet is seen after it"},
    {kLimits, "limits", "the declared limits are kept at both ends"},
    {kThreads, "threads", "threads on distinct memory do not disturb each other"},
    {kFuzz, "fuzz", "random walks of random segments are right"},
    {kCollectives, "collectives", "all collectives are right on it, on both paths"},
    {kAbort, "abort", "an abort and a time-out end a waiting call"},
}};

struct RuleOf {
  std::string_view rule;
  Number number;
};
constexpr RuleOf kRules[] = {
    {"file-name", kFile},
    {"name-invalid", kFile},
    {"name-unknown", kFile},
    {"file-missing", kFile},
    {"dangling-link", kFile},
    {"not-a-file", kFile},
    {"world-writable", kFile},
    {"stranger-owned", kFile},
    {"file-unreadable", kFile},
    {"too-large", kFile},
    {"not-elf", kFile},
    {"elf-class", kFile},
    {"elf-machine", kFile},
    {"elf-type", kFile},
    {"elf-truncated", kFile},
    {"elf-malformed", kFile},
    {"entry-missing", kExports},
    {"abi-older", kVersions},
    {"abi-newer", kVersions},
    {"device-abi-older", kVersions},
    {"device-abi-newer", kVersions},
    {"load-failed", kLoads},
    {"entry-threw", kLoads},
    {"entry-null", kLoads},
    {"changed-since-load", kLoads},
    {"descriptor-memory", kDescriptor},
    {"descriptor-size", kDescriptor},
    {"descriptor-kind", kDescriptor},
    {"descriptor-name", kDescriptor},
    {"descriptor-version", kDescriptor},
    {"descriptor-text", kDescriptor},
    {"table-incomplete", kDescriptor},
    {"limits-invalid", kDescriptor},
    {"images-invalid", kDescriptor},
    {"capabilities-none", kDescriptor},
    {"capabilities-unknown", kDescriptor},
    {"reserved-used", kDescriptor},
    {"atom-yaml", kDescriptor},
    {"probe-threw", kProbe},
};

}  // namespace

Finding passed(uint64_t cases) { return {State::kPassed, "", cases}; }
Finding failed(std::string text, uint64_t cases) {
  return {State::kFailed, std::move(text), cases};
}
Finding not_checked(std::string why) { return {State::kNotChecked, std::move(why), 0}; }
Finding not_applicable(std::string why) { return {State::kNotApplicable, std::move(why), 0}; }

std::span<const Requirement> requirements() { return kRequirements; }

int requirement_of_rule(const std::string& rule) {
  for (const RuleOf& entry : kRules)
    if (entry.rule == rule) return entry.number;
  return 0;
}

}  // namespace purlin::tools::check
