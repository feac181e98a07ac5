// A data-only Atom: a folder with atom.yaml and image files. No host code of the vendor runs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/judge.h"
#include "plugin/verdict.h"
#include "purlin/atom_abi.h"
#include "status/status.h"

namespace purlin::plugin {

inline constexpr const char* kAtomYaml = "atom.yaml";

// One entry of `images`: what the descriptor says of it, and the file that holds its bytes.
struct DataImage {
  purlin_atom_image image{};
  std::string file;  // a plain name within the folder; also the image's name
  std::vector<std::byte> bytes;
};

// What atom.yaml says, and the storage that the descriptor points into.
struct DataAtom {
  std::string name, version, vendor, description;
  purlin_atom_limits limits{};
  std::vector<DataImage> images;
  std::vector<purlin_atom_image> table;  // `images` as the descriptor wants them
  purlin_atom_descriptor descriptor{};   // its pointers are set by link_descriptor
};

// Reads the text of an atom.yaml; `file` is its name in messages. No image file is looked at.
// PURLIN_POLICY_ERROR "FILE:LINE:COLUMN: …" with the nearest valid word.
Result<DataAtom> decode_atom_yaml(std::string_view text, const std::string& file);

// Makes the descriptor point at the other members, which must not move any more.
void link_descriptor(DataAtom* atom);

// Judges the folder (resolved; its trust is known): atom.yaml and every image file for trust, then
// what they say, by the same rules as a plugin's descriptor. On acceptance *out is set; the same
// atom.yaml gives the same Plugin again, so an image that is changed alone is noticed by the next
// process only. Thread-safe.
Verdict judge_data_atom(const std::filesystem::path& folder, bool privileged,
                        std::shared_ptr<const Plugin>* out);

}  // namespace purlin::plugin
