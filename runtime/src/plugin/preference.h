// The Atoms that a policy names, and how a plugin answers to a name.
#pragma once

#include <string>
#include <vector>

#include "plugin/judge.h"
#include "plugin/selection.h"
#include "plugin/verdict.h"

namespace purlin::plugin {

inline constexpr const char* kAuto = "auto";

// True if the word is a path rather than a name.
bool is_path_word(const std::string& word);

// Accepted if `word` is an Atom's name, a file name ending in .so, a path, or "auto".
Verdict judge_word(const Stated& word);

// True if `judged` is what `word` means. Path words compare files, not texts; a refused file whose
// Atom's name is not known is taken by the name in its file name.
bool answers_to(const Judged& judged, const Stated& word, const Selection& selection);

// Index of the first word of selection.prefer that `judged` answers to, -1 if none.
int named_index(const Judged& judged, const Selection& selection);

// Place in the wished order: the index of the word that names it, or that of "auto" for the
// unnamed; -1 when the policy wants neither. An empty preference is "auto" alone.
int wish_index(int named, const Selection& selection);

}  // namespace purlin::plugin
