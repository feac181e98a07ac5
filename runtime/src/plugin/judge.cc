#include "plugin/judge.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "plugin/data_atom.h"
#include "plugin/elf_check.h"
#include "plugin/file_content.h"
#include "plugin/finder.h"
#include "plugin/loaded.h"
#include "plugin/text_rules.h"
#include "plugin/trust.h"

namespace purlin::plugin {
namespace {

namespace fs = std::filesystem;

std::string at(const Stated& stated) {
  return stated.where.empty() ? std::string() : fmt::format(" ({})", stated.where);
}

// The first glob that matches the file's or the Atom's name. An empty name matches nothing.
const Stated* first_match(const std::vector<Stated>& globs, const std::string& file_name,
                          const std::string& atom_name) {
  for (const Stated& glob : globs) {
    if (matches_glob(glob.text.c_str(), file_name.c_str()) ||
        (!atom_name.empty() && matches_glob(glob.text.c_str(), atom_name.c_str()))) {
      return &glob;
    }
  }
  return nullptr;
}

// With atom_name empty the name is not known yet, and only `disable` can decide.
Verdict check_globs(const Selection& selection, const std::string& file_name,
                    const std::string& atom_name) {
  if (const Stated* glob = first_match(selection.disable, file_name, atom_name)) {
    return refuse("disabled", fmt::format("\"{}\"{} disables it", glob->text, at(*glob)),
                  "take the glob out of plugins.disable to use the plugin");
  }
  if (!selection.enable.empty() && !atom_name.empty() &&
      first_match(selection.enable, file_name, atom_name) == nullptr) {
    return refuse("not-enabled",
                  fmt::format("no glob of plugins.enable matches{}", at(selection.enable.front())),
                  fmt::format("add \"{}\" to plugins.enable to use the plugin", atom_name));
  }
  return accept("accepted");
}

// What lies at `path`, links followed: a file worth opening?
Verdict check_entry(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    const int error = errno;
    struct stat link {};
    if (lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode)) {
      std::error_code failed;
      const fs::path target = fs::read_symlink(path, failed);
      return refuse(
          "dangling-link",
          fmt::format("the link to {} leads to no file: {}",
                      failed ? "an unreadable target" : target.string(), std::strerror(error)),
          "mend the link, or remove it");
    }
    return refuse("file-missing", fmt::format("{}: {}", path.string(), std::strerror(error)),
                  "give the path of an existing plugin");
  }
  if (S_ISDIR(status.st_mode)) {
    return refuse("not-a-file", "it is a folder without atom.yaml",
                  "put plugins into the folder itself, or list this folder in plugins.path");
  }
  if (!S_ISREG(status.st_mode)) {
    return refuse("not-a-file", "it is a device, a socket or a pipe", "remove it from the folder");
  }
  return accept("accepted");
}

// The trust of the folder that holds the plugin, and of all above it.
Verdict judge_folder(const fs::path& folder, bool privileged) {
  struct stat status {};
  if (stat(folder.c_str(), &status) != 0) {
    return refuse("file-unreadable",
                  fmt::format("stat {}: {}", folder.string(), std::strerror(errno)),
                  "let this user search the folder");
  }
  Verdict verdict = judge_trust(status, folder, privileged);
  return verdict.accepted ? judge_parents(folder, privileged) : verdict;
}

Verdict judge_shared_object(const fs::path& path, bool privileged,
                            std::shared_ptr<const Plugin>* out) {
  FileContent content;
  if (Verdict verdict = read_content(path, &content); !verdict.accepted) return verdict;
  if (Verdict verdict = judge_trust(content.status, path, privileged); !verdict.accepted) {
    return verdict;
  }
  if (Verdict verdict = judge_folder(path.parent_path(), privileged); !verdict.accepted) {
    return verdict;
  }
  if (Verdict verdict = check_elf(content.bytes); !verdict.accepted) return verdict;
  return load_once(path, content.status, out);
}

Verdict judge_data_only(const fs::path& folder, bool privileged,
                        std::shared_ptr<const Plugin>* out) {
  if (Verdict verdict = judge_folder(folder, privileged); !verdict.accepted) return verdict;
  return judge_data_atom(folder, privileged, out);
}

Verdict judge(const fs::path& path, const Selection& selection, Judged* judged) {
  const std::string file_name = path.filename().string();
  std::error_code failed;
  const bool data_only = fs::exists(fs::symlink_status(path / kAtomYaml, failed));
  if (!data_only && !file_name.ends_with(".so")) {
    return refuse("file-name", "the name does not end in .so",
                  "rename the file if it is a plugin, otherwise nothing");
  }
  if (!data_only) {
    if (Verdict verdict = check_entry(path); !verdict.accepted) return verdict;
  }
  if (Verdict verdict = check_globs(selection, file_name, usual_name(file_name));
      !verdict.accepted) {
    return verdict;
  }
  judged->resolved = fs::canonical(path, failed);
  if (failed) {
    return refuse("file-unreadable",
                  fmt::format("resolving {}: {}", path.string(), failed.message()),
                  "let this user search the folders above the file");
  }
  const bool privileged = selection.secure.value_or(privileged_process());
  Verdict verdict = data_only ? judge_data_only(judged->resolved, privileged, &judged->plugin)
                              : judge_shared_object(judged->resolved, privileged, &judged->plugin);
  if (!verdict.accepted) return verdict;
  return check_globs(selection, file_name, judged->plugin->descriptor->name);
}

}  // namespace

Judged judge_file(const fs::path& path, const Selection& selection) {
  Judged judged;
  judged.path = path;
  judged.verdict = judge(path, selection, &judged);
  if (!judged.verdict.accepted) judged.plugin = nullptr;
  return judged;
}

}  // namespace purlin::plugin
