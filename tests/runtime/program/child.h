// Child processes of tests: several at once, or one that acts as another user.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>

namespace purlin {

// Starts a process that runs `body` and leaves with its value. Only while this process has one
// thread.
inline pid_t start_child(const std::function<int()>& body) {
  std::fflush(nullptr);  // or the child would print it again
  const pid_t child = fork();
  if (child == 0) _exit(body());
  return child;
}

// Its exit status; -1 if it could not be started or a signal ended it.
inline int wait_child(pid_t child) {
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

}  // namespace purlin
