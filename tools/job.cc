#include "tools/job.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstring>
#include <set>

#include "purlin/purlin.h"
#include "tools/descendants.h"
#include "tools/exit_codes.h"
#include "tools/job_rank.h"
#include "tools/line_output.h"

namespace purlin::tools {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kTimedOut = 124;
constexpr int kHandled[] = {SIGCHLD, SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
                            SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

std::string signal_name(int number) {
  const char* name = ::sigabbrev_np(number);
  return name ? std::string("SIG") + name : fmt::format("signal {}", number);
}

std::chrono::milliseconds from_seconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(std::min(seconds, 1e9) * 1000));
}

class Job {
 public:
  explicit Job(const JobOptions& options) : options_(options) {}
  ~Job();
  int run();

 private:
  enum class Phase { kRunning, kEnding, kKilling };
  struct Stream {
    int fd;  // -1 once it has ended
    int target;
    LineOutput lines;
  };

  bool start();
  void take_signals();
  void take_signal(int number);
  void pass_on(int number) const;
  void reap();
  void rank_ended(size_t rank, int status);
  void fail(int exit_status, const std::string& reason);
  void end(Phase phase);
  void sweep(const std::vector<pid_t>& left);
  void check_clock();
  void read(Stream& stream);
  void write(int target, std::string_view text);
  bool writable(int target);
  void feed_first_rank();
  void say(const std::string& text) { write(STDERR_FILENO, "purlin run: " + text + "\n"); }
  size_t running() const {
    return static_cast<size_t>(
        std::count_if(ranks_.begin(), ranks_.end(), [](const JobRank& r) { return r.pid > 0; }));
  }

  const JobOptions& options_;
  std::vector<JobRank> ranks_;
  std::vector<Stream> streams_;
  sigset_t mask_before_{};
  int signals_ = -1;
  int typed_ = -1;         // write end of rank 0's input when this command's is a terminal
  bool sweeping_ = false;  // all ranks have ended
  std::set<pid_t> swept_;  // of what they left behind: has been asked to end
  Phase phase_ = Phase::kRunning;
  bool asked_ = false;  // a signal asked the job to end
  bool failed_ = false;
  int exit_status_ = 0;
  Clock::time_point give_up_ = Clock::time_point::max();  // when to kill
  Clock::time_point limit_ = Clock::time_point::max();
};

Job::~Job() {
  for (const Stream& stream : streams_)
    if (stream.fd >= 0) ::close(stream.fd);
  for (const int fd : {signals_, typed_})
    if (fd >= 0) ::close(fd);
}

bool Job::start() {
  purlin_unique_id id;
  if (purlin_get_unique_id(&id) != PURLIN_OK) {
    fail(kExitFailed, purlin_last_error());
    return false;
  }
  std::string hex;
  for (const char c : id.bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  // Ranks are not in the terminal's foreground group and may not read it themselves.
  int typed[2] = {-1, -1};
  if (::isatty(STDIN_FILENO) == 1 && ::pipe2(typed, O_CLOEXEC) == 0) typed_ = typed[1];
  for (int rank = 0; rank < options_.nranks; ++rank) {
    int status = 0;
    const int first_input = typed_ >= 0 ? typed[0] : STDIN_FILENO;
    const int input = rank == 0 ? first_input : nothing;
    auto started =
        start_rank({options_.command, hex, rank, options_.nranks, input, mask_before_}, status);
    if (!started) {
      fail(status, started.error());
      break;
    }
    const std::string label = options_.label ? fmt::format("[{}] ", rank) : "";
    streams_.push_back({started->out, STDOUT_FILENO, LineOutput(label)});
    streams_.push_back({started->err, STDERR_FILENO, LineOutput(label)});
    ranks_.push_back(*started);
  }
  for (const int fd : {nothing, typed[0]})
    if (fd >= 0) ::close(fd);
  return true;
}

int Job::run() {
  sigset_t handled;
  ::sigemptyset(&handled);
  for (const int number : kHandled) ::sigaddset(&handled, number);
  ::pthread_sigmask(SIG_BLOCK, &handled, &mask_before_);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);  // inherited as ignored it would hide how ranks ended
  signals_ = ::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ < 0) {
    fail(kExitFailed, fmt::format("signalfd failed: {}", std::strerror(errno)));
    return exit_status_;
  }
  adopt_descendants();
  if (options_.timeout_seconds) limit_ = Clock::now() + from_seconds(*options_.timeout_seconds);
  if (!start()) return exit_status_;

  while (true) {
    reap();
    check_clock();
    if (running() == 0) {
      // What ranks left behind holds their output open and must not outlive the job.
      const auto left = children();
      if (left.empty()) break;
      sweep(left);
    }
    // Read from the background, a terminal would stop this process.
    const bool listen = typed_ >= 0 && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
    std::vector<pollfd> polled{{signals_, POLLIN, 0}, {listen ? STDIN_FILENO : -1, POLLIN, 0}};
    for (const Stream& stream : streams_) polled.push_back({stream.fd, POLLIN, 0});
    const int wait_ms = phase_ == Phase::kRunning && !sweeping_ ? 200 : 10;
    ::poll(polled.data(), polled.size(), wait_ms);
    take_signals();
    if (polled[1].revents != 0) feed_first_rank();
    for (size_t i = 0; i < streams_.size(); ++i)
      if (polled[i + 2].revents != 0) read(streams_[i]);
  }
  for (Stream& stream : streams_) {
    while (stream.fd >= 0) read(stream);  // nobody is left that could hold it open
  }
  return exit_status_;
}

void Job::sweep(const std::vector<pid_t>& left) {
  for (const pid_t child : left)
    if (swept_.insert(child).second) ::kill(child, SIGTERM);
  if (sweeping_) return;
  sweeping_ = true;
  give_up_ = std::min(give_up_, Clock::now() + from_seconds(options_.grace_seconds));
}

// Passes on what was typed. A rank that does not read it gets no more than its pipe holds.
void Job::feed_first_rank() {
  pollfd room{typed_, POLLOUT, 0};
  if (::poll(&room, 1, 0) != 1) return;
  char buffer[PIPE_BUF];
  const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof buffer);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got > 0 && ::write(typed_, buffer, static_cast<size_t>(got)) == got) return;
  ::close(typed_);  // end of input, or the rank has closed it
  typed_ = -1;
}

void Job::take_signals() {
  signalfd_siginfo info{};
  while (::read(signals_, &info, sizeof info) == sizeof info)
    take_signal(static_cast<int>(info.ssi_signo));
}

void Job::take_signal(int number) {
  if (number == SIGCHLD) return;  // the loop reaps in any case
  pass_on(number);
  if (number == SIGTSTP) ::raise(SIGSTOP);
  if (number != SIGINT && number != SIGTERM && number != SIGHUP && number != SIGQUIT) return;
  if (asked_) {
    say(signal_name(number) + " again: killing the ranks");
    return end(Phase::kKilling);
  }
  asked_ = true;
  say(fmt::format("{} passed on; the ranks have {} s to end", signal_name(number),
                  options_.grace_seconds));
  give_up_ = std::min(give_up_, Clock::now() + from_seconds(options_.grace_seconds));
}

void Job::pass_on(int number) const {
  for (const JobRank& rank : ranks_)
    if (rank.pid > 0) ::kill(-rank.pid, number);
}

void Job::reap() {
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    for (size_t rank = 0; rank < ranks_.size(); ++rank)
      if (ranks_[rank].pid == pid) rank_ended(rank, status);
  }
}

void Job::rank_ended(size_t rank, int status) {
  ranks_[rank].pid = -1;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  if (WIFEXITED(status))
    fail(WEXITSTATUS(status),
         fmt::format("rank {} exited with status {}", rank, WEXITSTATUS(status)));
  else
    fail(128 + WTERMSIG(status),
         fmt::format("rank {} was killed by {}{}", rank, signal_name(WTERMSIG(status)),
                     WCOREDUMP(status) ? " (core dumped)" : ""));
}

// Later failures are mostly consequences of the first.
void Job::fail(int exit_status, const std::string& reason) {
  if (failed_) return;
  failed_ = true;
  exit_status_ = exit_status;
  const size_t others = running();
  say(others == 0
          ? reason
          : fmt::format("{}; ending the other {} rank{}", reason, others, others == 1 ? "" : "s"));
  end(Phase::kEnding);
}

void Job::end(Phase phase) {
  if (phase <= phase_) return;
  phase_ = phase;
  const int number = phase == Phase::kEnding ? SIGTERM : SIGKILL;
  pass_on(number);
  pass_on(SIGCONT);  // a stopped process takes no SIGTERM
  for (const pid_t child : children()) ::kill(child, number);
  if (phase == Phase::kEnding)
    give_up_ = std::min(give_up_, Clock::now() + from_seconds(options_.grace_seconds));
}

void Job::check_clock() {
  const auto now = Clock::now();
  if (now >= limit_) {
    limit_ = Clock::time_point::max();
    fail(kTimedOut, fmt::format("the job did not end within {} s", *options_.timeout_seconds));
  }
  if (now >= give_up_) {
    if (phase_ != Phase::kKilling && running() > 0)
      say(fmt::format("{} rank{} did not end within {} s: killing", running(),
                      running() == 1 ? "" : "s", options_.grace_seconds));
    end(Phase::kKilling);
    // Killed processes leave children of their own to this one.
    for (const pid_t child : children()) ::kill(child, SIGKILL);
  }
}

void Job::read(Stream& stream) {
  char buffer[64 * 1024];
  const ssize_t got = ::read(stream.fd, buffer, sizeof buffer);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got > 0) {
    write(stream.target, stream.lines.feed({buffer, static_cast<size_t>(got)}));
    return;
  }
  write(stream.target, stream.lines.finish());
  ::close(stream.fd);
  stream.fd = -1;
}

// Waits until a piece can be written. Signals and limits are heeded meanwhile; false once the ranks
// are being killed: a reader that stopped reading must not hold up the end.
bool Job::writable(int target) {
  while (true) {
    pollfd polled[2] = {{target, POLLOUT, 0}, {signals_, POLLIN, 0}};
    ::poll(polled, 2, 200);
    if (polled[0].revents != 0) return true;
    take_signals();
    check_clock();
    if (phase_ == Phase::kKilling) return false;
  }
}

void Job::write(int target, std::string_view text) {
  while (!text.empty()) {
    if (!writable(target)) return;
    // A pipe that is ready takes this much without blocking.
    const ssize_t sent = ::write(target, text.data(), std::min<size_t>(text.size(), PIPE_BUF));
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent < 0) {
      // Nobody reads the output any more, as with `| head`.
      const int error = errno;
      if (target == STDOUT_FILENO)
        fail(128 + SIGPIPE, fmt::format("writing output failed: {}", std::strerror(error)));
      return;
    }
    text.remove_prefix(static_cast<size_t>(sent));
  }
}

}  // namespace

int run_job(const JobOptions& options) { return Job(options).run(); }

}  // namespace purlin::tools
