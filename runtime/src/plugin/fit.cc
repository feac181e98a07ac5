#include "plugin/fit.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugin/descriptor_check.h"
#include "plugin/shared_object.h"
#include "plugin/text_rules.h"
#include "program/image.h"
#include "program/target.h"

namespace purlin::plugin {
namespace {

const char* kind_name(uint32_t kind) { return kind == PURLIN_ATOM_HOST ? "host" : "CUDA"; }

const char* capability_name(uint64_t bit) {
  switch (bit) {
    case PURLIN_CAP_COPY:
      return "copy";
    case PURLIN_CAP_REDUCE:
      return "reduce";
    case PURLIN_CAP_PACKETS:
      return "packets";
    case PURLIN_CAP_SIGNALS:
      return "signals";
    case PURLIN_CAP_SWITCH_REDUCE:
      return "switch reduce";
    case PURLIN_CAP_SWITCH_STORE:
      return "switch store";
    case PURLIN_CAP_REMOTE_STORE:
      return "remote store";
    default:
      return "unknown";
  }
}

Verdict judge_denied(const purlin_atom_descriptor& atom, const std::vector<Stated>& deny) {
  for (const Stated& glob : deny) {
    if (!matches_glob(glob.text.c_str(), atom.name)) continue;
    return refuse("denied",
                  fmt::format("\"{}\"{} denies it", glob.text,
                              glob.where.empty() ? "" : fmt::format(" ({})", glob.where)),
                  "take the word out of datapath.deny to use the Atom");
  }
  return accept("fits");
}

Verdict judge_images(const purlin_atom_descriptor& atom, uint32_t target) {
  std::string refusals;
  for (uint64_t i = 0; i < atom.image_count; ++i) {
    const Result<DeviceImage> image = image_from_atom(*image_at(atom, i), atom.name);
    if (image && image->role != PURLIN_IMAGE_CORE) continue;
    const Status status = image ? check_architecture(image.value(), target) : image.status();
    if (status.is_ok()) return accept("fits");
    refusals += fmt::format("{}{}", refusals.empty() ? "" : "; ", status.message());
  }
  return refuse("no-image",
                fmt::format("no core image can be linked for sm_{}: {}", target, refusals),
                "install a build of the plugin with an image for this device");
}

Verdict judge_cuda(const purlin_atom_descriptor& atom, const purlin_device_facts& facts) {
  const uint32_t target = facts.cc_major * 10 + facts.cc_minor;
  if (target < atom.architecture) {
    return refuse(
        "device-too-old",
        fmt::format("it needs compute capability {}.{}, the device has {}.{}",
                    atom.architecture / 10, atom.architecture % 10, facts.cc_major, facts.cc_minor),
        "nothing; an Atom for older devices serves here");
  }
  if (Verdict verdict = judge_images(atom, target); !verdict.accepted) return verdict;
  const uint64_t least = uint64_t{atom.limits->min_stages} * atom.limits->min_stage_bytes +
                         atom.limits->shared_bytes_fixed;
  // A device that is only spoken of ("sm_90") may come without this number.
  if (facts.shared_bytes_per_block != 0 && least > facts.shared_bytes_per_block) {
    return refuse(
        "shared-memory",
        fmt::format("its smallest pipeline takes {} bytes of shared memory, a block of the "
                    "device has {}",
                    least, facts.shared_bytes_per_block),
        "nothing; another Atom serves here");
  }
  return accept("fits");
}

Verdict judge_probe(const purlin_atom_descriptor& atom, const purlin_device_facts& facts) {
  if (atom.probe == nullptr) return accept("fits");
  const Result<ProbeAnswer> answer = call_probe(atom.probe, facts);
  if (!answer) {
    return refuse("probe-threw", answer.status().message(), "report it to the plugin's author");
  }
  if (answer->bits == PURLIN_PROBE_FITS) return accept("fits");
  const std::string text = answer->reason.empty() ? "no reason given" : answer->reason;
  return refuse(
      "probe-refused",
      fmt::format("the plugin says: {} (reason bits {:#x})",
                  is_single_line(text) ? text : "a reason with control characters", answer->bits),
      "nothing, if the plugin is right; another Atom serves here");
}

}  // namespace

Result<std::vector<DeviceImage>> images_of(const purlin_atom_descriptor& atom) {
  std::vector<DeviceImage> images;
  for (uint64_t i = 0; i < atom.image_count; ++i) {
    auto image = image_from_atom(*image_at(atom, i), atom.name);
    if (!image) return image.status();
    images.push_back(*std::move(image));
  }
  return images;
}

Verdict judge_fit(const Plugin& plugin, const purlin_device_facts& facts,
                  const std::vector<Stated>& deny) {
  const purlin_atom_descriptor& atom = *plugin.descriptor;
  if (Verdict verdict = judge_denied(atom, deny); !verdict.accepted) return verdict;
  if (atom.kind != facts.kind) {
    return refuse("wrong-kind",
                  fmt::format("it is a {} Atom, the device is a {} device", kind_name(atom.kind),
                              kind_name(facts.kind)),
                  "nothing; it serves other devices");
  }
  if (atom.kind == PURLIN_ATOM_CUDA) {
    if (Verdict verdict = judge_cuda(atom, facts); !verdict.accepted) return verdict;
  }
  return judge_probe(atom, facts);
}

Verdict judge_need(const Plugin& plugin, const Need& need) {
  const purlin_atom_descriptor& atom = *plugin.descriptor;
  const uint64_t missing = need.capabilities & ~atom.capabilities;
  if (missing != 0) {
    const uint64_t first = missing & (~missing + 1);
    return refuse("lacks-capability",
                  fmt::format("it cannot do \"{}\" (needed {:#x}, declared {:#x})",
                              capability_name(first), need.capabilities, atom.capabilities),
                  "name an Atom that can, or let the choice be automatic");
  }
  if (need.dtype >= 0 && need.op >= 0) {
    const int op = need.op == PURLIN_PREMUL_SUM ? int{PURLIN_SUM} : need.op;
    const bool known = need.dtype < PURLIN_DTYPE_COUNT && op < PURLIN_OP_COUNT;
    if (!known || (atom.limits->op_mask[need.dtype] >> op & 1u) == 0) {
      return refuse(
          "lacks-reduction",
          fmt::format("it does not reduce dtype {} with operation {}", need.dtype, need.op),
          "name an Atom that does, or let the choice be automatic");
    }
  }
  if (need.sources > atom.limits->max_sources) {
    return refuse("too-few-sources",
                  fmt::format("it takes {} sources at once, {} are needed",
                              atom.limits->max_sources, need.sources),
                  "name an Atom that takes more, or use fewer ranks");
  }
  return accept("fits");
}

}  // namespace purlin::plugin
