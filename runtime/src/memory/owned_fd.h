// A file descriptor with one owner.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace purlin {

// Closes its descriptor when it goes. Movable; -1 means none. Not thread-safe.
class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd) : fd_(fd) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  OwnedFd(const OwnedFd&) = delete;
  OwnedFd& operator=(const OwnedFd&) = delete;
  ~OwnedFd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  // Leaves errno as it was, so that it may run between a failing call and the report about it.
  void reset(int fd = -1);
  // A second descriptor of the same file, closed on exec; none (errno set) when the limit is
  // reached.
  OwnedFd duplicate() const { return OwnedFd(::fcntl(fd_, F_DUPFD_CLOEXEC, 3)); }

 private:
  int fd_ = -1;
};

}  // namespace purlin
