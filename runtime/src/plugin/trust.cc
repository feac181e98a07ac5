#include "plugin/trust.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace purlin::plugin {
namespace {

Verdict judge(const struct stat& status, const std::filesystem::path& path, bool privileged,
              bool sticky_allowed) {
  const bool sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
  if ((status.st_mode & S_IWOTH) != 0 && !(sticky && sticky_allowed)) {
    return refuse("world-writable",
                  fmt::format("{} can be written by everybody (mode {:04o})", path.string(),
                              status.st_mode & 07777),
                  fmt::format("chmod o-w '{}'", path.string()));
  }
  const uid_t self = geteuid();
  if (status.st_uid != 0 && (privileged || status.st_uid != self)) {
    return refuse(
        "stranger-owned",
        fmt::format(
            "{} belongs to user {}, this process {} user {}", path.string(), status.st_uid,
            privileged ? "has raised privileges and trusts root only, not" : "trusts root and",
            self),
        fmt::format("chown it to root{}, or keep the plugin elsewhere",
                    privileged ? "" : " or to the user who runs the program"));
  }
  return accept("accepted");
}

}  // namespace

Verdict judge_trust(const struct stat& status, const std::filesystem::path& path, bool privileged) {
  return judge(status, path, privileged, false);
}

Verdict judge_parents(const std::filesystem::path& folder, bool privileged) {
  for (std::filesystem::path parent = folder.parent_path();; parent = parent.parent_path()) {
    struct stat status {};
    if (stat(parent.c_str(), &status) != 0) {
      return refuse("folder-unreadable",
                    fmt::format("stat {}: {}", parent.string(), std::strerror(errno)),
                    "let this user search the folder");
    }
    if (Verdict verdict = judge(status, parent, privileged, true); !verdict.accepted) {
      return verdict;
    }
    if (parent == parent.parent_path()) return accept("accepted");
  }
}

}  // namespace purlin::plugin
