#include "plugin/descriptor_check.h"

#include <fmt/format.h>

#include "plugin/limits_check.h"
#include "plugin/text_rules.h"

namespace purlin::plugin {
namespace {

constexpr const char* kRebuild = "rebuild the plugin against this version's SDK";
constexpr const char* kTellAuthor = "report it to the plugin's author";
constexpr uint64_t kMostImages = 4096;
constexpr uint64_t kCapabilities = PURLIN_CAP_COPY | PURLIN_CAP_REDUCE | PURLIN_CAP_PACKETS |
                                   PURLIN_CAP_SIGNALS | PURLIN_CAP_SWITCH_REDUCE |
                                   PURLIN_CAP_SWITCH_STORE | PURLIN_CAP_REMOTE_STORE;

Verdict outside(const char* member) {
  return refuse("descriptor-memory",
                fmt::format("{} is null, misaligned, or points outside the plugin", member),
                kTellAuthor);
}

Verdict small(const char* name, uint32_t found, uint32_t least) {
  return refuse("descriptor-size",
                fmt::format("{} has struct_size {}, that of ABI {}.0 has {}", name, found,
                            PURLIN_ATOM_ABI_MAJOR, least),
                kRebuild);
}

Verdict check_abi(const purlin_atom_descriptor& atom) {
  const std::string both = fmt::format(
      "the plugin has ABI {}.{}, this library has {}.{} and serves every {}.x", atom.abi_major,
      atom.abi_minor, PURLIN_ATOM_ABI_MAJOR, PURLIN_ATOM_ABI_MINOR, PURLIN_ATOM_ABI_MAJOR);
  if (atom.abi_major > PURLIN_ATOM_ABI_MAJOR) {
    return refuse("abi-newer", both, "update Purlin, or install the plugin's build for this ABI");
  }
  if (atom.abi_major < PURLIN_ATOM_ABI_MAJOR) return refuse("abi-older", both, kRebuild);
  return accept("accepted");
}

// Refuses a reserved member that holds something, so that a later minor can give it a meaning.
Verdict check_reserved(const char* member, uint64_t value) {
  if (value == 0) return accept("accepted");
  return refuse("reserved-used",
                fmt::format("{} is {:#x}; in ABI {}.{} it is reserved and 0", member, value,
                            PURLIN_ATOM_ABI_MAJOR, PURLIN_ATOM_ABI_MINOR),
                kTellAuthor);
}

Verdict check_capabilities(const purlin_atom_descriptor& atom) {
  if (atom.capabilities == 0) {
    return refuse("capabilities-none", "the Atom declares no capability", kTellAuthor);
  }
  const uint64_t unknown = atom.capabilities & ~kCapabilities;
  if (unknown == 0 || is_newer(atom)) return accept("accepted");
  return refuse(
      "capabilities-unknown",
      fmt::format("the Atom declares capability bits {:#x}, which ABI {}.{} does not have", unknown,
                  atom.abi_major, atom.abi_minor),
      kTellAuthor);
}

Verdict check_device_abi(const purlin_atom_descriptor& atom) {
  if (atom.kind != PURLIN_ATOM_CUDA || atom.device_abi == PURLIN_ATOM_DEVICE_ABI) {
    return accept("accepted");
  }
  const bool newer = atom.device_abi > PURLIN_ATOM_DEVICE_ABI;
  return refuse(
      newer ? "device-abi-newer" : "device-abi-older",
      fmt::format("the plugin's device code has device ABI {}, this library links {}",
                  atom.device_abi, PURLIN_ATOM_DEVICE_ABI),
      newer ? "update Purlin, or install the plugin's build for this device ABI" : kRebuild);
}

Verdict check_texts(const purlin_atom_descriptor& atom, const PluginMemory& memory) {
  const auto name = memory.text(atom.name, 256);
  const auto version = memory.text(atom.version, 256);
  const auto vendor = memory.text(atom.vendor, 256);
  const auto description = memory.text(atom.description, 256);
  if (!name) return outside("name");
  if (!version) return outside("version");
  if (!vendor) return outside("vendor");
  if (!description) return outside("description");
  if (!is_atom_name(*name)) {
    return refuse("descriptor-name",
                  is_single_line(*name)
                      ? fmt::format("the name is \"{}\"; it must match [a-z0-9-]{{1,32}}", *name)
                      : "the name holds control characters; it must match [a-z0-9-]{1,32}",
                  kTellAuthor);
  }
  if (!is_version(*version)) {
    return refuse("descriptor-version",
                  is_single_line(*version)
                      ? fmt::format("the version is \"{}\"; it must look like 1.2.3", *version)
                      : "the version holds control characters; it must look like 1.2.3",
                  kTellAuthor);
  }
  if (!is_single_line(*vendor) || !is_single_line(*description)) {
    return refuse("descriptor-text", "vendor or description holds control characters", kTellAuthor);
  }
  return accept("accepted");
}

Verdict check_kind(const purlin_atom_descriptor& atom) {
  const bool host = atom.kind == PURLIN_ATOM_HOST;
  if (!host && atom.kind != PURLIN_ATOM_CUDA) {
    return refuse(
        "descriptor-kind",
        fmt::format("kind {} is unknown; host is {}, CUDA is {}", atom.kind,
                    static_cast<int>(PURLIN_ATOM_HOST), static_cast<int>(PURLIN_ATOM_CUDA)),
        "update Purlin, or report it to the plugin's author");
  }
  if (host && (atom.host == nullptr || atom.images != nullptr || atom.image_count != 0 ||
               atom.architecture != 0)) {
    return refuse("descriptor-kind",
                  "a host Atom has a function table, architecture 0 and no images", kTellAuthor);
  }
  if (!host && (atom.host != nullptr || atom.images == nullptr || atom.image_count == 0 ||
                atom.architecture == 0)) {
    return refuse("descriptor-kind",
                  "a CUDA Atom has images and an architecture, and no function table", kTellAuthor);
  }
  return accept("accepted");
}

Verdict check_table(const purlin_host_atom* table, bool newer, const PluginMemory& memory) {
  if (!memory.holds_struct(table, sizeof(uint32_t))) return outside("host");
  if (table->struct_size < kHostAtomSize) return small("host", table->struct_size, kHostAtomSize);
  if (!memory.holds_struct(table, table->struct_size)) return outside("host");
  const auto check = [&](auto* function, const char* name) {
    return function != nullptr && memory.holds_function(function)
               ? accept("accepted")
               : refuse("table-incomplete",
                        fmt::format("{} is {}", name,
                                    function == nullptr ? "null" : "no function of the plugin"),
                        kTellAuthor);
  };
  for (const Verdict& verdict :
       {check(table->run, "run"), check(table->send_packets, "send_packets"),
        check(table->receive_packets, "receive_packets"), check(table->signal, "signal"),
        check(table->observe, "observe"), check(table->reduce, "reduce"),
        check(table->scale, "scale")}) {
    if (!verdict.accepted) return verdict;
  }
  return newer ? accept("accepted") : check_reserved("reserved of host", table->reserved);
}

Verdict bad_image(uint64_t index, std::string what) {
  return refuse("images-invalid", fmt::format("image {}: {}", index, what), kTellAuthor);
}

// Images of kinds that a newer minor added are left alone: nothing here will ask for them.
Verdict check_image(const purlin_atom_image& image, uint64_t index, bool newer,
                    const PluginMemory& memory) {
  const bool unknown = image.kind > PURLIN_IMAGE_PROGRAM || image.role > PURLIN_IMAGE_UNIVERSAL ||
                       image.dtype >= PURLIN_DTYPE_COUNT;
  if (newer && unknown) return accept("accepted");
  if (image.kind < PURLIN_IMAGE_LTOIR_FATBIN || image.kind > PURLIN_IMAGE_PROGRAM) {
    return bad_image(index, fmt::format("kind {} is unknown", image.kind));
  }
  if (image.role < PURLIN_IMAGE_CORE || image.role > PURLIN_IMAGE_UNIVERSAL) {
    return bad_image(index, fmt::format("role {} is unknown", image.role));
  }
  if (image.role == PURLIN_IMAGE_REDUCTION && image.dtype >= PURLIN_DTYPE_COUNT) {
    return bad_image(index, fmt::format("dtype {} is unknown", image.dtype));
  }
  if ((image.role == PURLIN_IMAGE_UNIVERSAL) != (image.kind == PURLIN_IMAGE_PROGRAM)) {
    return bad_image(index, "a universal image is a finished program, and the other way round");
  }
  if (image.base < 50 || image.base > 999) {
    return bad_image(index, fmt::format("base {} is no architecture", image.base));
  }
  if (image.arch_specific != 0 && image.arch_specific != 'a' && image.arch_specific != 'f') {
    return bad_image(index,
                     fmt::format("arch_specific {} is not 0, 'a' or 'f'", image.arch_specific));
  }
  if (image.bytes == 0 || !memory.holds(image.data, image.bytes)) {
    return bad_image(index,
                     fmt::format("its {} bytes of data do not lie in the plugin", image.bytes));
  }
  const auto name = memory.text(image.name, 256);
  if (!name || !is_single_line(*name))
    return bad_image(index, "its name is no single line of text");
  if (newer) return accept("accepted");
  return check_reserved(fmt::format("reserved of image {}", index).c_str(), image.reserved);
}

Verdict check_images(const purlin_atom_descriptor& atom, const PluginMemory& memory) {
  if (!memory.holds_struct(atom.images, sizeof(uint32_t))) return outside("images");
  const uint32_t stride = atom.images->struct_size;
  if (stride < kImageSize) return small("images[0]", stride, kImageSize);
  if (atom.image_count > kMostImages || stride % alignof(purlin_atom_image) != 0 ||
      !memory.holds_struct(atom.images, atom.image_count * stride)) {
    return refuse(
        "images-invalid",
        fmt::format("{} images of {} bytes do not lie in the plugin", atom.image_count, stride),
        kTellAuthor);
  }
  bool has_core = false;
  for (uint64_t i = 0; i < atom.image_count; ++i) {
    const purlin_atom_image* image = image_at(atom, i);
    if (image->struct_size != stride) return bad_image(i, "its struct_size differs from the first");
    if (Verdict verdict = check_image(*image, i, is_newer(atom), memory); !verdict.accepted)
      return verdict;
    has_core |= image->role == PURLIN_IMAGE_CORE;
  }
  return has_core ? accept("accepted")
                  : refuse("images-invalid", "none of the images is the Atom's core", kTellAuthor);
}

}  // namespace

Verdict check_descriptor(const purlin_atom_descriptor* descriptor, const PluginMemory& memory) {
  // Versions come first: what follows means something only within one ABI.
  if (!memory.holds_struct(descriptor, 8)) return outside("the descriptor");
  const purlin_atom_descriptor& atom = *descriptor;
  if (Verdict verdict = check_abi(atom); !verdict.accepted) return verdict;
  if (atom.struct_size < kDescriptorSize) {
    return small("the descriptor", atom.struct_size, kDescriptorSize);
  }
  if (!memory.holds_struct(descriptor, atom.struct_size)) return outside("the descriptor");
  if (Verdict verdict = check_texts(atom, memory); !verdict.accepted) return verdict;
  if (Verdict verdict = check_kind(atom); !verdict.accepted) return verdict;
  if (Verdict verdict = check_device_abi(atom); !verdict.accepted) return verdict;
  if (Verdict verdict = check_limits(atom, memory); !verdict.accepted) return verdict;
  Verdict parts = atom.kind == PURLIN_ATOM_HOST ? check_table(atom.host, is_newer(atom), memory)
                                                : check_images(atom, memory);
  if (!parts.accepted) return parts;
  if (Verdict verdict = check_capabilities(atom); !verdict.accepted) return verdict;
  if (atom.probe != nullptr && !memory.holds_function(atom.probe)) return outside("probe");
  return accept("accepted");
}

bool is_newer(const purlin_atom_descriptor& descriptor) {
  return descriptor.abi_minor > PURLIN_ATOM_ABI_MINOR;
}

const purlin_atom_image* image_at(const purlin_atom_descriptor& descriptor, uint64_t index) {
  const auto* first = reinterpret_cast<const std::byte*>(descriptor.images);
  return reinterpret_cast<const purlin_atom_image*>(first + index * descriptor.images->struct_size);
}

}  // namespace purlin::plugin
