// What the policy says about plugins: where to look, which may be used, which is wanted.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace purlin::plugin {

// A word of the user's and the place where it was written ("h200.yaml:12:7", "PURLIN_PLUGIN_PATH"),
// so that every verdict can name the line that decided. `where` may be empty.
struct Stated {
  std::string text;
  std::string where;
};

// Plain data, copied freely. An empty Selection means: the default folders, every Atom allowed,
// automatic choice.
struct Selection {
  // Folders searched first, in this order; relative ones start at `base`.
  std::vector<Stated> folders;

  // Shell globs (fnmatch) over an Atom's name ("hopper") and its file name ("libatom-hopper.so").
  // With `enable` non-empty only matching Atoms are used; `disable` wins. What a file name of the
  // usual form libatom-NAME.so rules out is not loaded at all; other files are matched once their
  // name is known.
  std::vector<Stated> enable;
  std::vector<Stated> disable;

  // Atoms the policy names, most wanted first; the later ones are the written fall-back. Each is an
  // Atom's name ("hopper"), a file name ending in ".so", or a path (anything with a slash; relative
  // ones start at `base`), which is judged in addition to the folders. "auto" stands for every
  // other Atom that fits. Without it, an error when none of the named can serve. Empty means
  // {"auto"}.
  std::vector<Stated> prefer;

  // Globs of Atom names that never serve, in no fall-back.
  std::vector<Stated> deny;

  // Where relative paths start: the folder of the policy file. Empty: the working folder.
  std::filesystem::path base;

  // For tests and tools: replaces PURLIN_PLUGIN_PATH, the folder beside the library and the install
  // folder. `folders` are still searched before these.
  std::optional<std::vector<std::filesystem::path>> default_folders;

  // For tests: pretends that the process runs with raised privileges (AT_SECURE) or not.
  std::optional<bool> secure;
};

}  // namespace purlin::plugin
