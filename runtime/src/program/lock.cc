#include "program/lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

namespace purlin {

Result<std::optional<ProgramLock>> ProgramLock::try_take(const ProgramFolder& folder,
                                                         const Digest& digest) {
  const std::string name = fmt::format(".lock-{:02x}", digest[0]);
  const auto failed = [&](const char* call) {
    const int error = errno;
    return Status(PURLIN_SYSTEM_ERROR,
                  fmt::format("{} of {}/{}: {}", call, folder.path(), name, strerror(error)));
  };
  // A descriptor of its own each time: flock then also keeps threads of one process apart.
  const int fd =
      openat(folder.descriptor(), name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return failed("open");
  ProgramLock lock(fd);
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return std::optional<ProgramLock>(std::move(lock));
  if (errno == EWOULDBLOCK || errno == EINTR) return std::optional<ProgramLock>();
  return failed("flock");
}

Result<std::optional<ProgramLock>> ProgramLock::take(const ProgramFolder& folder,
                                                     const Digest& digest,
                                                     std::chrono::milliseconds limit) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + limit;
  // Polled, because a blocking flock has no time limit.
  for (auto pause = std::chrono::milliseconds(1);;
       pause = std::min(pause * 2, std::chrono::milliseconds(20))) {
    auto lock = try_take(folder, digest);
    if (!lock || lock->has_value() || Clock::now() >= end) return lock;
    std::this_thread::sleep_for(pause);
  }
}

ProgramLock::ProgramLock(ProgramLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

ProgramLock& ProgramLock::operator=(ProgramLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

ProgramLock::~ProgramLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace purlin
