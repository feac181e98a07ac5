// Images with the right outer shape and made-up contents, for tests that never link.
#pragma once

#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "program/image.h"

namespace purlin {

// A fatbin header with `text` as its payload.
inline std::vector<std::byte> sample_fatbin(const std::string& text) {
  std::vector<std::byte> out(16 + text.size());
  const uint32_t magic = 0xBA55ED50;
  const uint16_t version = 1, header = 16;
  const uint64_t payload = text.size();
  std::memcpy(out.data(), &magic, 4);
  std::memcpy(out.data() + 4, &version, 2);
  std::memcpy(out.data() + 6, &header, 2);
  std::memcpy(out.data() + 8, &payload, 8);
  std::memcpy(out.data() + 16, text.data(), text.size());
  return out;
}

// The bytes live until the process ends, like those of a plugin.
inline DeviceImage sample_image(const std::string& name, uint32_t base, char specific = 0,
                                purlin_image_role role = PURLIN_IMAGE_CORE, uint32_t dtype = 0) {
  static std::deque<std::vector<std::byte>> keep;
  keep.push_back(sample_fatbin(name));
  DeviceImage image;
  image.name = name;
  image.role = role;
  image.dtype = dtype;
  image.base = base;
  image.specific = specific;
  image.compiler = 13000;
  image.bytes = keep.back();
  return image;
}

}  // namespace purlin
