// Making a data-only Atom: a folder with atom.yaml and image files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/outcome.h"

namespace purlin::tools {

// One image file, and what atom.yaml says of it.
struct PackImage {
  std::string path;
  std::string role;      // core, reduction or universal
  std::string dtype;     // of a reduction
  unsigned base = 0;     // 90
  std::string specific;  // "", "a" or "f"
  std::string compiler;  // CUDA release "13.0"; empty: not known
  std::string kind;      // lto-ir, cubin or program
};

// "FILE@90a" for a core or universal image, "DTYPE=FILE@90" for a reduction. The kind is found in
// the file.
Outcome<PackImage> parse_image(std::string_view role, std::string_view text,
                               std::string_view compiler);

// The reduction fragments that an installed package carries in this folder (reductions.list).
Outcome<std::vector<PackImage>> package_reductions(const std::string& folder);

struct PackOptions {
  std::string description;       // atom.yaml without `images`
  std::string description_name;  // its file, for messages
  std::vector<PackImage> images;
  std::string folder;  // made by this; must not exist
};

// Makes the folder, all or nothing: `images` is added to the description's text, and the files are
// copied. The library judges the result; a refusal is an error with its rule, and no folder is
// left.
Done pack_atom(const PackOptions& options);

}  // namespace purlin::tools
