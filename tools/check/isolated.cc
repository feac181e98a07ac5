#include "tools/check/isolated.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace purlin::tools::check {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kMostPrinted = 4096, kMostAnswer = size_t{64} << 20;

struct Pipe {
  int ends[2] = {-1, -1};
  bool open() { return ::pipe2(ends, O_CLOEXEC) == 0; }
  void close_end(int which) {
    if (ends[which] >= 0) ::close(ends[which]);
    ends[which] = -1;
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
};

[[noreturn]] void be_the_child(const std::function<std::string()>& work, Pipe& answers,
                               Pipe& prints) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Out of the way of a plugin that writes to, or closes, the standard descriptors.
  const int answer_to = ::fcntl(answers.ends[1], F_DUPFD_CLOEXEC, 100);
  ::dup2(prints.ends[1], STDOUT_FILENO);
  ::dup2(prints.ends[1], STDERR_FILENO);
  answers.close_end(0);
  answers.close_end(1);
  prints.close_end(0);
  prints.close_end(1);
  const std::string answer = work();
  std::fflush(nullptr);
  for (size_t written = 0; written < answer.size();) {
    const ssize_t step = ::write(answer_to, answer.data() + written, answer.size() - written);
    if (step <= 0) ::_exit(3);
    written += static_cast<size_t>(step);
  }
  ::_exit(0);
}

// Reads what is there; false at the end.
bool drain(int from, std::string& to, size_t most) {
  char buffer[4096];
  const ssize_t got = ::read(from, buffer, sizeof buffer);
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  if (got == 0) return false;
  to.append(buffer, std::min(static_cast<size_t>(got), most - std::min(most, to.size())));
  return true;
}

// Until both pipes have ended, or the limit has passed: false then.
bool listen(Pipe& answers, Pipe& prints, IsolatedRun& outcome, Clock::time_point limit) {
  while (answers.ends[0] >= 0) {
    pollfd watched[2] = {{answers.ends[0], POLLIN, 0}, {prints.ends[0], POLLIN, 0}};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - Clock::now());
    if (left.count() <= 0) return false;
    if (::poll(watched, 2, static_cast<int>(left.count())) < 0 && errno != EINTR) return false;
    if (watched[1].revents != 0 && !drain(prints.ends[0], outcome.printed, kMostPrinted))
      prints.close_end(0);
    if (watched[0].revents != 0 && !drain(answers.ends[0], outcome.answer, kMostAnswer))
      answers.close_end(0);
  }
  // What was printed before the answer is in the pipe by now.
  while (prints.ends[0] >= 0) {
    pollfd watched = {prints.ends[0], POLLIN, 0};
    if (::poll(&watched, 1, 0) <= 0) break;
    if (!drain(prints.ends[0], outcome.printed, kMostPrinted)) prints.close_end(0);
  }
  return true;
}

std::string signal_text(int number) {
  const char* name = ::sigabbrev_np(number);
  return name != nullptr ? fmt::format("killed by SIG{}", name)
                         : fmt::format("killed by signal {}", number);
}

}  // namespace

IsolatedRun run_isolated(const std::function<std::string()>& work, double limit_seconds) {
  IsolatedRun outcome;
  Pipe answers, prints;
  std::fflush(nullptr);
  const auto limit =
      Clock::now() + std::chrono::milliseconds(static_cast<int64_t>(limit_seconds * 1000));
  const pid_t child = answers.open() && prints.open() ? ::fork() : -1;
  if (child < 0) {
    outcome.end = IsolatedRun::End::kNotStarted;
    outcome.how = fmt::format("no process of its own could be made: {}", std::strerror(errno));
    return outcome;
  }
  if (child == 0) be_the_child(work, answers, prints);
  ::setpgid(child, child);
  answers.close_end(1);
  prints.close_end(1);
  const bool in_time = listen(answers, prints, outcome, limit);
  // A child that has answered ends by itself at once; whatever is left of its group goes with it.
  if (!in_time) ::kill(-child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ::kill(-child, SIGKILL);
  if (!in_time) {
    outcome.end = IsolatedRun::End::kTimedOut;
    outcome.how = fmt::format("did not end within {} s", limit_seconds);
  } else if (WIFSIGNALED(status)) {
    outcome.end = IsolatedRun::End::kKilled;
    outcome.how = signal_text(WTERMSIG(status));
  } else if (WEXITSTATUS(status) != 0 || outcome.answer.empty()) {
    outcome.end = IsolatedRun::End::kExited;
    outcome.how = fmt::format("ended the process with status {}", WEXITSTATUS(status));
  }
  return outcome;
}

}  // namespace purlin::tools::check
