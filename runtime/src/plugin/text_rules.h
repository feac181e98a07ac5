// Grammar of the texts in a descriptor, and the order of versions.
#pragma once

#include <string>
#include <string_view>

namespace purlin::plugin {

// [a-z0-9-]{1,32}
bool is_atom_name(std::string_view text);

// Semantic version: MAJOR.MINOR.PATCH, optionally -PRERELEASE and +BUILD; at most 64 bytes.
bool is_version(std::string_view text);

// Below, at or above zero as `left` is older than, as old as or newer than `right`, by the
// precedence of semantic versions (a pre-release goes before its release, build data does not
// count). Both must satisfy is_version.
int compare_versions(std::string_view left, std::string_view right);

// True if `text` has no control characters: one line for a terminal.
bool is_single_line(std::string_view text);

// NAME of a file name of the usual form libatom-NAME.so, else empty.
std::string usual_name(std::string_view file_name);

// True if `glob` (fnmatch, no flags) matches `text`.
bool matches_glob(const char* glob, const char* text);

}  // namespace purlin::plugin
