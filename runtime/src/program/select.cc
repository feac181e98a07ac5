#include "program/select.h"

#include <fmt/format.h>

#include <string>
#include <tuple>

#include "program/target.h"

namespace purlin {
namespace {

// Greater is better.
auto rank_of(const DeviceImage& image) {
  const int narrow = image.specific == 'a' ? 2 : image.specific == 'f' ? 1 : 0;
  const int lto = image.kind == PURLIN_IMAGE_LTOIR_FATBIN ? 1 : 0;
  return std::tuple(image.base, narrow, lto);
}

Result<DeviceImage> best(std::span<const DeviceImage> images, uint32_t cc, purlin_image_role role,
                         uint32_t dtype, const std::string& wanted) {
  const DeviceImage* found = nullptr;
  std::string refused;
  for (const auto& image : images) {
    if (image.role != role || image.kind == PURLIN_IMAGE_PROGRAM) continue;
    if (role == PURLIN_IMAGE_REDUCTION && image.dtype != dtype) continue;
    if (Status fits = check_architecture(image, cc); !fits) {
      refused += "\n  " + fits.message();
    } else if (found == nullptr || rank_of(image) > rank_of(*found)) {
      found = &image;
    }
  }
  if (found != nullptr) return *found;
  if (refused.empty()) refused = "\n  the Atom has none at all";
  return Status(PURLIN_LINK_ERROR,
                fmt::format("no {} for an sm_{} device:{}", wanted, cc, refused));
}

constexpr const char* kDtypeNames[PURLIN_DTYPE_COUNT] = {
    "i8", "u8", "i32", "u32", "i64", "u64", "f16", "f32", "f64", "bf16", "f8e4m3", "f8e5m2"};

}  // namespace

Result<std::vector<DeviceImage>> select_images(std::span<const DeviceImage> images, uint32_t cc,
                                               std::optional<purlin_dtype> dtype) {
  std::vector<DeviceImage> out;
  auto core = best(images, cc, PURLIN_IMAGE_CORE, 0, "core image");
  if (!core) return core.status();
  out.push_back(*core);
  if (dtype.has_value()) {
    auto fragment = best(images, cc, PURLIN_IMAGE_REDUCTION, static_cast<uint32_t>(*dtype),
                         fmt::format("reduction image of type {}", kDtypeNames[*dtype]));
    if (!fragment) return fragment.status();
    out.push_back(*fragment);
  }
  return out;
}

}  // namespace purlin
