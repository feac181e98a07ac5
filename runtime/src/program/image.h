// A piece of device code that goes into a program: SNAC's, an Atom's core, a reduction fragment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "purlin/atom_abi.h"
#include "status/status.h"

namespace purlin {

// A CUDA release as major * 1000 + minor * 10, the way CUDART_VERSION counts; 0: not known.
using CudaRelease = uint32_t;
inline constexpr uint32_t cuda_major(CudaRelease release) { return release / 1000; }
inline constexpr uint32_t cuda_minor(CudaRelease release) { return release % 1000 / 10; }
std::string cuda_release_text(CudaRelease release);  // "13.0"

// Does not own its bytes: they lie in the core or in a plugin and live as long as the process.
struct DeviceImage {
  std::string name;  // for messages: "snac", "hopper", "hopper reduction bf16"
  purlin_image_kind kind = PURLIN_IMAGE_LTOIR_FATBIN;
  purlin_image_role role = PURLIN_IMAGE_CORE;
  uint32_t dtype = 0;        // of a reduction fragment
  uint32_t base = 0;         // architecture it was compiled for: 75, 80, 89, 90, 100 …
  char specific = 0;         // 'a' exactly base, 'f' base's family, 0 any target >= base
  CudaRelease compiler = 0;  // release that compiled it; the linker must not be older
  std::span<const std::byte> bytes;
};

// "sm_90a LTO-IR 'hopper'", the way messages name an image.
std::string describe(const DeviceImage& image);

// Reads a plugin's image as far as its struct_size reaches. `owner` is the plugin's name and goes
// into the image's own. PURLIN_PLUGIN_ERROR if the record is too short, or names no known kind.
Result<DeviceImage> image_from_atom(const purlin_atom_image& image, const std::string& owner);

// Whether the bytes look like what `kind` says and are whole; the linker's own words for a damaged
// image say nothing. PURLIN_LINK_ERROR.
Status check_image(const DeviceImage& image);

}  // namespace purlin
