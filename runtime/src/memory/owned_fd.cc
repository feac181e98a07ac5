#include "memory/owned_fd.h"

#include <cerrno>

namespace purlin {

void OwnedFd::reset(int fd) {
  const int saved = errno;
  // Linux frees the descriptor even when close reports EINTR or EIO, so there is nothing to retry.
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
  errno = saved;
}

}  // namespace purlin
