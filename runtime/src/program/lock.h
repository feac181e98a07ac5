// A lock between the processes of a machine, so that a program is made once.
#pragma once

#include <chrono>
#include <optional>

#include "program/digest.h"
#include "program/folder.h"
#include "status/status.h"

namespace purlin {

// Held until destroyed, or until the process ends in whatever way. Programs share 256 lock files by
// the first byte of their digest; a thread holds at most one lock at a time, so none can dead-lock.
class ProgramLock {
 public:
  // Without a value: somebody else holds it. PURLIN_SYSTEM_ERROR where the file system has no
  // locks.
  static Result<std::optional<ProgramLock>> try_take(const ProgramFolder& folder,
                                                     const Digest& digest);
  // Asks again until `limit` has passed.
  static Result<std::optional<ProgramLock>> take(const ProgramFolder& folder, const Digest& digest,
                                                 std::chrono::milliseconds limit);
  ProgramLock(ProgramLock&& other) noexcept;
  ProgramLock& operator=(ProgramLock&& other) noexcept;
  ~ProgramLock();

 private:
  explicit ProgramLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace purlin
