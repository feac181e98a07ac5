// Which of an Atom's images go into a program for one device.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "program/image.h"
#include "status/status.h"

namespace purlin {

// The Atom's core image and, if `dtype` is given, its reduction fragment for that type: of each the
// one that fits `cc` with the greatest base, an architecture-specific one before a family-specific
// one before a plain one of equal base, LTO-IR before a cubin, then the first listed.
// Names every candidate with the reason when none fits (PURLIN_LINK_ERROR).
Result<std::vector<DeviceImage>> select_images(std::span<const DeviceImage> images, uint32_t cc,
                                               std::optional<purlin_dtype> dtype);

}  // namespace purlin
