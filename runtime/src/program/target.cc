#include "program/target.h"

#include <fmt/format.h>

namespace purlin {

std::string LinkTarget::name() const {
  return fmt::format("sm_{}{}", cc, specific != 0 ? std::string(1, specific) : "");
}

Status check_architecture(const DeviceImage& image, uint32_t cc) {
  const bool same_major = cc / 10 == image.base / 10;
  const bool machine_code = image.kind != PURLIN_IMAGE_LTOIR_FATBIN;
  std::string needs;
  if (image.specific == 'a') {
    if (cc == image.base) return {};
    needs =
        fmt::format("it is specific to sm_{0}a, so only an sm_{0} device can run it", image.base);
  } else if (image.specific == 'f') {
    if (same_major && cc >= image.base) return {};
    needs = fmt::format(
        "it is specific to the family sm_{}f, which holds devices from sm_{} below "
        "sm_{}",
        image.base, image.base, (image.base / 10 + 1) * 10);
  } else if (machine_code) {
    if (same_major && cc >= image.base) return {};
    needs = fmt::format("machine code for sm_{} runs on devices from sm_{} below sm_{} alone",
                        image.base, image.base, (image.base / 10 + 1) * 10);
  } else {
    if (cc >= image.base) return {};
    needs =
        fmt::format("the device is older than the oldest it was compiled for, sm_{}", image.base);
  }
  return Status(
      PURLIN_LINK_ERROR,
      fmt::format("{} cannot be linked for an sm_{} device: {}; use an Atom that has an image "
                  "for this device",
                  describe(image), cc, needs));
}

LinkTarget target_for(uint32_t cc, std::span<const DeviceImage> images) {
  LinkTarget out{cc, 0};
  for (const auto& image : images)
    if (image.specific != 0) out.specific = 'a';
  return out;
}

}  // namespace purlin
