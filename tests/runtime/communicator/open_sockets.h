// Whether a rank waits for its peers in an exchange: a communicator holds no socket otherwise.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <thread>

namespace purlin::test {

// Open sockets of a process of this user.
inline int open_sockets(pid_t process) {
  int count = 0;
  std::error_code gone;  // a descriptor that is closed meanwhile
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/fd"))
    if (std::filesystem::read_symlink(entry.path(), gone).string().starts_with("socket:")) ++count;
  return count;
}

// Returns once the process has more than `count`.
inline void wait_for_socket(pid_t process, int count) {
  while (open_sockets(process) <= count) std::this_thread::yield();
}

}  // namespace purlin::test
