#include "program/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace purlin {
namespace {

const char* kind_name(purlin_image_kind kind) {
  switch (kind) {
    case PURLIN_IMAGE_LTOIR_FATBIN:
      return "LTO-IR";
    case PURLIN_IMAGE_CUBIN:
      return "cubin";
    case PURLIN_IMAGE_PROGRAM:
      return "finished program";
  }
  return "image of unknown kind";
}

// The 16 bytes that every fatbin starts with.
struct FatbinHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t header_bytes;
  uint64_t payload_bytes;
};
constexpr uint32_t kFatbinMagic = 0xBA55ED50;

Status damaged(const DeviceImage& image, const std::string& what) {
  return Status(PURLIN_LINK_ERROR,
                fmt::format("{} is damaged: {}; install the plugin it belongs to again",
                            describe(image), what));
}

}  // namespace

std::string cuda_release_text(CudaRelease release) {
  return release == 0 ? "unknown" : fmt::format("{}.{}", cuda_major(release), cuda_minor(release));
}

std::string describe(const DeviceImage& image) {
  return fmt::format("sm_{}{} {} '{}'", image.base,
                     image.specific != 0 ? std::string(1, image.specific) : "",
                     kind_name(image.kind), image.name);
}

Result<DeviceImage> image_from_atom(const purlin_atom_image& image, const std::string& owner) {
  constexpr size_t kFirstPublished = offsetof(purlin_atom_image, compiler);
  if (image.struct_size < kFirstPublished)
    return Status(
        PURLIN_PLUGIN_ERROR,
        fmt::format("plugin '{}': an image record of {} bytes, the shortest known has {}; "
                    "rebuild the plugin with a current atom_abi.h",
                    owner, image.struct_size, kFirstPublished));
  purlin_atom_image whole{};
  std::memcpy(&whole, &image, std::min<size_t>(image.struct_size, sizeof(whole)));
  const std::string own = whole.name != nullptr ? whole.name : "";
  const auto refuse = [&](const char* what, uint32_t found) {
    return Status(PURLIN_PLUGIN_ERROR,
                  fmt::format("plugin '{}': image '{}' has {} {}, which this Purlin does not know; "
                              "update Purlin, or rebuild the plugin",
                              owner, own, what, found));
  };
  if (whole.kind < PURLIN_IMAGE_LTOIR_FATBIN || whole.kind > PURLIN_IMAGE_PROGRAM)
    return refuse("kind", whole.kind);
  if (whole.role < PURLIN_IMAGE_CORE || whole.role > PURLIN_IMAGE_UNIVERSAL)
    return refuse("role", whole.role);
  if (whole.dtype >= PURLIN_DTYPE_COUNT) return refuse("dtype", whole.dtype);
  if (whole.arch_specific != 0 && whole.arch_specific != 'a' && whole.arch_specific != 'f')
    return refuse("arch_specific", whole.arch_specific);
  DeviceImage out;
  out.name = own.empty() ? owner : owner + ": " + own;
  out.kind = static_cast<purlin_image_kind>(whole.kind);
  out.role = static_cast<purlin_image_role>(whole.role);
  out.dtype = whole.dtype;
  out.base = whole.base;
  out.specific = static_cast<char>(whole.arch_specific);
  out.compiler = whole.compiler;
  out.bytes = {static_cast<const std::byte*>(whole.data), whole.data != nullptr ? whole.bytes : 0};
  return out;
}

Status check_image(const DeviceImage& image) {
  if (image.bytes.empty()) return damaged(image, "it holds no bytes");
  switch (image.kind) {
    case PURLIN_IMAGE_LTOIR_FATBIN: {
      FatbinHeader header;
      if (image.bytes.size() < sizeof(header)) return damaged(image, "it ends within its header");
      std::memcpy(&header, image.bytes.data(), sizeof(header));
      if (header.magic != kFatbinMagic) return damaged(image, "it does not start like a fatbin");
      const uint64_t room = image.bytes.size() - sizeof(header);
      if (header.header_bytes != sizeof(header) || header.payload_bytes > room)
        return damaged(image, fmt::format("its header announces {} bytes, {} follow",
                                          header.payload_bytes, room));
      return {};
    }
    case PURLIN_IMAGE_CUBIN:
      if (image.bytes.size() < 64 || std::memcmp(image.bytes.data(), "\177ELF", 4) != 0)
        return damaged(image, "it is no ELF file");
      return {};
    case PURLIN_IMAGE_PROGRAM:
      return {};  // read_program_file judges it, digest and all
  }
  return damaged(image, "its kind is unknown");
}

}  // namespace purlin
