// A folder of programs that can be trusted: its owner and mode are checked when it is opened, and
// everything in it is reached through the opened folder.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "status/status.h"

namespace purlin {

// Who may own a folder and its files.
enum class Trust {
  kOwn,       // this user alone: the cache
  kOwnOrRoot  // or root: prelinked folders
};

// Movable handle. Thread-safe. All failures are PURLIN_SYSTEM_ERROR with the call, path and reason,
// or PURLIN_LINK_ERROR for an owner or a mode that is refused.
class ProgramFolder {
 public:
  // An existing folder, for reading. Not followed if it is a symbolic link and `trust` is kOwn.
  static Result<ProgramFolder> open(const std::string& path, Trust trust);
  // Makes it, and missing parents, with mode `mode`, then opens it.
  static Result<ProgramFolder> create(const std::string& path, Trust trust, unsigned mode);
  ProgramFolder(ProgramFolder&& other) noexcept;
  ProgramFolder& operator=(ProgramFolder&& other) noexcept;
  ProgramFolder(const ProgramFolder&) = delete;
  ProgramFolder& operator=(const ProgramFolder&) = delete;
  ~ProgramFolder();

  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }

  // Names of all entries, sorted.
  Result<std::vector<std::string>> names() const;
  // Empty Result value if there is no such file. Symbolic links, files of strangers, files others
  // may write and files above 256 MiB are refused.
  struct Contents {
    bool found = false;
    std::vector<std::byte> bytes;
  };
  Result<Contents> read(const std::string& name) const;
  // Whole or not at all: temporary name, flush, rename.
  Status write(const std::string& name, std::span<const std::byte> bytes, unsigned mode) const;

 private:
  ProgramFolder(std::string path, int descriptor, Trust trust)
      : path_(std::move(path)), descriptor_(descriptor), trust_(trust) {}
  std::string path_;
  int descriptor_ = -1;
  Trust trust_ = Trust::kOwn;
};

}  // namespace purlin
