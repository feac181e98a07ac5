// The exact device architecture that a program is linked for, and which images may go there.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "program/image.h"
#include "status/status.h"

namespace purlin {

// cc is major * 10 + minor: 90, 103. `specific` is 0 or 'a'.
struct LinkTarget {
  uint32_t cc = 0;
  char specific = 0;
  std::string name() const;  // "sm_90a"
  bool operator==(const LinkTarget&) const = default;
};

// Whether `image` may be linked for a device of compute capability `cc`:
//   no suffix: cc >= base;  'a': cc == base;  'f': same major, cc >= base;
//   a cubin or a finished program: same major, cc >= base (and == base with 'a').
// PURLIN_LINK_ERROR in words; the linker itself refuses without saying why.
Status check_architecture(const DeviceImage& image, uint32_t cc);

// The target for a device: with 'a' when one of the images is architecture- or family-specific
// (a program is made for one device, so the narrowest target costs nothing), else plain.
LinkTarget target_for(uint32_t cc, std::span<const DeviceImage> images);

}  // namespace purlin
