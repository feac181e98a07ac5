#include "tools/check/static_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "tools/check/elf_facts.h"
#include "tools/plugin_verdict.h"

namespace purlin::tools::check {
namespace {

// Entries of other versions are a matter of requirement 3.
constexpr std::string_view kEntryStem = "purlin_atom_entry_v";
constexpr uint64_t kLeast = PURLIN_CAP_COPY | PURLIN_CAP_PACKETS | PURLIN_CAP_SIGNALS;

bool is_folder(const Subject& subject) {
  std::error_code failed;
  return std::filesystem::is_directory(subject.path, failed);
}

// One call of a probe with `room` bytes for its reason.
struct Answer {
  uint32_t bits = 0;
  std::string reason;
  std::string fault;
};
Answer ask_probe(purlin_atom_probe probe, const purlin_device_facts& facts, uint64_t room) {
  constexpr char kGuard = 0x5A;
  std::string memory(room + 64, kGuard);
  Answer answer;
  answer.bits = probe(&facts, memory.data(), room);
  if (memory.find_first_not_of(kGuard, room) != std::string::npos)
    answer.fault = fmt::format("it wrote beyond the {} bytes for its reason", room);
  if (answer.bits == PURLIN_PROBE_FITS) return answer;
  const size_t end = memory.find('\0');
  if (end == std::string::npos || end >= room)
    answer.fault = fmt::format("it refused, and its reason has no end within {} bytes", room);
  else
    answer.reason = memory.substr(0, end);
  return answer;
}

}  // namespace

Finding check_exports(const Subject& subject) {
  if (is_folder(subject)) return not_applicable("an Atom without host code exports nothing");
  const auto facts = read_elf_facts(subject.path);
  if (!facts) return failed(facts.error());
  std::string others;
  for (const std::string& name : facts->exported)
    if (!name.starts_with(kEntryStem)) others += (others.empty() ? "" : ", ") + name;
  if (!others.empty())
    return failed("it also exports " + others +
                  "; link it with a version script, as purlin_add_atom does");
  if (facts->exported.empty())
    return failed(fmt::format("it does not export {}", PURLIN_ATOM_ENTRY_NAME));
  return passed(facts->exported.size());
}

Finding check_needed(const Subject& subject) {
  if (is_folder(subject)) return not_applicable("an Atom without host code is not loaded");
  const auto facts = read_elf_facts(subject.path);
  if (!facts) return failed(facts.error());
  for (const std::string& library : facts->needed)
    for (const char* start : {"libcuda", "libnvrtc", "libnvJitLink", "libnccl"})
      if (library.starts_with(start))
        return failed(fmt::format(
            "it needs {}; an Atom carries images and leaves loading to Purlin", library));
  return passed(1);
}

Finding check_probe(const Subject& subject) {
  if (subject.descriptor == nullptr || subject.descriptor->probe == nullptr)
    return not_applicable("it has no probe");
  // The library's own call: what the probe throws is caught there.
  const std::string device =
      subject.host() ? "host" : fmt::format("sm_{}", subject.descriptor->architecture);
  const auto verdict = judge_plugin(subject.path, device);
  if (!verdict) return failed(verdict.error());
  if (verdict->fit().rule == "probe-threw") return failed(verdict->fit().reason);
  uint64_t cases = 0;
  for (const uint32_t kind : {uint32_t{PURLIN_ATOM_HOST}, uint32_t{PURLIN_ATOM_CUDA}}) {
    for (const uint32_t major : {0u, 7u, 8u, 9u, 10u, 12u}) {
      for (const uint64_t room : {1u, 16u, 256u}) {
        purlin_device_facts facts{};
        facts.struct_size = sizeof facts;
        facts.kind = kind;
        facts.cc_major = major;
        facts.multiprocessors = 132;
        facts.shared_bytes_per_block = 227u << 10;
        facts.memory_bytes = uint64_t{80} << 30;
        facts.name = "a device that is tried";
        const Answer first = ask_probe(subject.descriptor->probe, facts, room);
        const Answer second = ask_probe(subject.descriptor->probe, facts, room);
        ++cases;
        if (!first.fault.empty()) return failed(first.fault, cases);
        if (first.bits != second.bits || first.reason != second.reason)
          return failed("asked twice about one device it answered differently", cases);
      }
    }
  }
  return passed(cases);
}

Finding check_capabilities(const Subject& subject) {
  const auto capabilities = subject.atom.value("capabilities", uint64_t{0});
  const auto masks = subject.atom.value("op_mask", std::vector<uint32_t>());
  const bool reduces =
      std::any_of(masks.begin(), masks.end(), [](uint32_t mask) { return mask != 0; });
  if ((capabilities & kLeast) != kLeast)
    return failed(
        "COPY, PACKETS and SIGNALS are the least that serves; not all three are declared");
  const bool declared = (capabilities & (PURLIN_CAP_REDUCE | PURLIN_CAP_SWITCH_REDUCE)) != 0;
  if (declared != reduces)
    return failed(reduces ? "the limits name operations, but REDUCE is not declared"
                          : "REDUCE is declared, but the limits name no operation");
  return passed(2);
}

}  // namespace purlin::tools::check
