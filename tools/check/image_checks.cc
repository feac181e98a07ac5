// Images: whole, complete, and accepted by the linker.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "tools/ask.h"
#include "tools/check/static_checks.h"
#include "tools/check/temporary_folder.h"
#include "tools/json_text.h"
#include "tools/names.h"
#include "tools/plugin_verdict.h"

namespace purlin::tools::check {
namespace {

using nlohmann::json;

// Architectures that a CUDA 13 linker knows.
constexpr uint32_t kTargets[] = {75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121};

// The bytes of image `index`, from the plugin or from the Atom's folder.
std::string image_bytes(const Subject& subject, size_t index, const std::string& name) {
  if (subject.descriptor == nullptr) {
    std::ifstream in(subject.path + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  const auto* first = reinterpret_cast<const unsigned char*>(subject.descriptor->images);
  purlin_atom_image image{};
  const uint32_t size = subject.descriptor->images->struct_size;
  std::memcpy(&image, first + index * size, std::min<size_t>(size, sizeof image));
  return {static_cast<const char*>(image.data), image.bytes};
}

// Why the bytes are not what `kind` says; empty if they are.
std::string damage(uint32_t kind, const std::string& bytes) {
  if (kind == PURLIN_IMAGE_CUBIN) return bytes.starts_with("\177ELF") ? "" : "it is no ELF file";
  if (kind == PURLIN_IMAGE_PROGRAM)
    return bytes.starts_with("PURLPROG") ? "" : "it is no finished program";
  if (!bytes.starts_with("\x50\xed\x55\xba") || bytes.size() < 16)
    return "it does not start like a fatbin";
  uint64_t payload = 0;
  std::memcpy(&payload, bytes.data() + 8, sizeof payload);
  return payload <= bytes.size() - 16
             ? ""
             : fmt::format("its header announces {} bytes, {} follow", payload, bytes.size() - 16);
}

std::vector<uint32_t> declared_masks(const Subject& subject) {
  return subject.atom.value("op_mask", std::vector<uint32_t>(PURLIN_DTYPE_COUNT));
}

// A policy that makes the plugin's programs: copies and reductions, all that it declares or one
// that the seed picks.
std::string policy_with_programs(const Subject& subject, bool all) {
  std::vector<int> declared;
  const auto masks = declared_masks(subject);
  for (int dtype = 0; dtype < PURLIN_DTYPE_COUNT; ++dtype)
    if (masks[static_cast<size_t>(dtype)] != 0) declared.push_back(dtype);
  if (!all && !declared.empty()) declared = {declared[subject.random(kLinks)() % declared.size()]};
  std::map<uint32_t, std::string> by_mask;
  for (const int dtype : declared) {
    const uint32_t mask = masks[static_cast<size_t>(dtype)];
    std::string& list = by_mask[all ? mask : mask & (~mask + 1)];
    list += (list.empty() ? "" : ", ") + std::string(dtype_name(dtype));
  }
  std::string text = policy_for_plugin(subject.path) + "programs:\n  - {kind: copy}\n";
  for (const auto& [mask, dtypes] : by_mask) {
    std::string ops;
    for (int op = 0; op < PURLIN_OP_COUNT; ++op)
      if ((mask >> op & 1u) != 0) ops += (ops.empty() ? "" : ", ") + std::string(op_name(op));
    text += fmt::format("  - {{kind: reduce, dtypes: [{}], ops: [{}]}}\n", dtypes, ops);
  }
  return text;
}

}  // namespace

Finding check_images(const Subject& subject) {
  const json& images = list_or_object(subject.atom, "images");
  const uint64_t architecture = number_at(subject.atom, "architecture");
  std::set<uint64_t> reduced;
  bool core = false;
  for (size_t i = 0; i < images.size(); ++i) {
    const std::string name = text_at(images[i], "name");
    const auto kind = static_cast<uint32_t>(number_at(images[i], "kind"));
    const std::string what = fmt::format("image \"{}\": ", name);
    if (const std::string why = damage(kind, image_bytes(subject, i, name)); !why.empty())
      return failed(what + why);
    if (number_at(images[i], "base") > architecture) continue;
    if (number_at(images[i], "role") == PURLIN_IMAGE_CORE) core = true;
    if (number_at(images[i], "role") == PURLIN_IMAGE_REDUCTION)
      reduced.insert(number_at(images[i], "dtype"));
  }
  if (!core)
    return failed(fmt::format(
        "no core image has a base of at most {}, the architecture that is declared", architecture));
  const auto masks = declared_masks(subject);
  for (int dtype = 0; dtype < PURLIN_DTYPE_COUNT; ++dtype)
    if (masks[static_cast<size_t>(dtype)] != 0 && !reduced.contains(static_cast<uint64_t>(dtype)))
      return failed(
          fmt::format("{} is declared, but no reduction fragment of it has a base of at most {}",
                      dtype_name(dtype), architecture));
  return passed(images.size());
}

Finding check_links(const Subject& subject) {
  if ((number_at(subject.atom, "capabilities") & PURLIN_CAP_REDUCE) == 0)
    return not_checked(
        "it does not reduce by itself, so programs are made of it beside another Atom");
  const uint64_t architecture = number_at(subject.atom, "architecture");
  std::vector<uint32_t> targets;
  for (const uint32_t target : kTargets) {
    if (target < architecture) continue;
    const auto verdict = judge_plugin(subject.path, fmt::format("sm_{}", target));
    if (!verdict) return failed(verdict.error());
    if (verdict->fit().accepted) targets.push_back(target);
    // A probe may refuse the device that is made up here; its own architecture's images may not.
    const std::string rule = verdict->fit().rule;
    if (target == architecture && (rule == "no-image" || rule == "shared-memory"))
      return failed(fmt::format("it declares sm_{}, but: {}", target, verdict->fit().reason));
  }
  if (targets.empty()) return not_checked("it fits no device that could be named");
  if (!subject.full && targets.size() > 2) targets.erase(targets.begin() + 1, targets.end() - 1);
  const TemporaryFolder folder;
  const std::string policy =
      folder.write("policy.yaml", policy_with_programs(subject, subject.full));
  uint64_t programs = 0;
  for (const uint32_t target : targets) {
    const std::string device = fmt::format("sm_{}", target);
    const std::string output = folder.path() + "/" + device;
    purlin_prelink_options options{};
    options.struct_size = sizeof options;
    options.device = device.c_str();
    options.policy_path = policy.c_str();
    options.output_directory = output.c_str();
    options.ranks = subject.full ? 0 : 2;
    purlin_status status = PURLIN_OK;
    const auto answer = ask([&](char** text) { return status = purlin_prelink(&options, text); });
    if (status == PURLIN_UNSUPPORTED) return not_checked(answer.error());
    if (!answer && answer.error().find("remedies: install nvJitLink") != std::string::npos)
      return not_checked(answer.error());
    if (!answer) return failed(fmt::format("for {}: {}", device, answer.error()), programs);
    programs += list_or_object(*answer, "programs").size();
  }
  return passed(programs);
}

}  // namespace purlin::tools::check
