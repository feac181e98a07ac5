// Whose file is it, and who may change it? Loading a plugin runs its code with this process's
// rights.
#pragma once

#include <sys/stat.h>

#include <filesystem>

#include "plugin/verdict.h"

namespace purlin::plugin {

// Judges a file or folder by its status: not writable by everybody; owned by root or by the
// effective user, and by root alone when `privileged`. Links have been followed by the caller. A
// folder that everybody may write is refused even with the sticky bit: anybody could add a plugin.
Verdict judge_trust(const struct stat& status, const std::filesystem::path& path, bool privileged);

// Judges the folders above `folder` (resolved, absolute) in the same way. There a sticky folder
// such as /tmp is allowed, since only a file's owner can replace it.
Verdict judge_parents(const std::filesystem::path& folder, bool privileged);

}  // namespace purlin::plugin
