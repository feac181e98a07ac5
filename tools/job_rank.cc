#include "tools/job_rank.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace purlin::tools {
namespace {

constexpr int kNotFound = 127;
constexpr int kNotExecutable = 126;

struct Pipe {
  int read_end = -1, write_end = -1;
  bool open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return true;
  }
  void close() {
    for (int* end : {&read_end, &write_end}) {
      if (*end >= 0) ::close(*end);
      *end = -1;
    }
  }
};

void describe_rank(const RankSetup& setup) {
  const std::string rank = std::to_string(setup.rank);
  const std::string nranks = std::to_string(setup.nranks);
  ::setenv("PURLIN_UNIQUE_ID", setup.unique_id_hex.c_str(), 1);
  for (const char* name : {"PURLIN_RANK", "RANK", "LOCAL_RANK"}) ::setenv(name, rank.c_str(), 1);
  for (const char* name : {"PURLIN_NRANKS", "WORLD_SIZE", "LOCAL_WORLD_SIZE"})
    ::setenv(name, nranks.c_str(), 1);
}

// In the child: never returns. Reports errno through `trouble` when the command cannot be run.
[[noreturn]] void become_rank(const RankSetup& setup, pid_t launcher, const Pipe& out,
                              const Pipe& err, const Pipe& trouble) {
  ::setpgid(0, 0);
  // Dies with the launcher, also when that happened before this call.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launcher) ::_exit(1);
  ::dup2(setup.standard_input, STDIN_FILENO);
  ::dup2(out.write_end, STDOUT_FILENO);
  ::dup2(err.write_end, STDERR_FILENO);
  ::signal(SIGPIPE, SIG_DFL);
  ::pthread_sigmask(SIG_SETMASK, &setup.signal_mask, nullptr);
  describe_rank(setup);
  std::vector<char*> arguments;
  for (const std::string& word : setup.command)
    arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  const int error = errno;
  (void)!::write(trouble.write_end, &error, sizeof error);
  ::_exit(kNotFound);
}

}  // namespace

Outcome<JobRank> start_rank(const RankSetup& setup, int& exit_status) {
  exit_status = 1;
  Pipe out, err, trouble;
  const pid_t launcher = ::getpid();
  pid_t pid = -1;
  if (out.open() && err.open() && trouble.open()) pid = ::fork();
  if (pid == 0) become_rank(setup, launcher, out, err, trouble);
  const int failed = errno;
  if (pid < 0) {
    for (Pipe* pipe : {&out, &err, &trouble}) pipe->close();
    return Error{
        fmt::format("rank {} of {} could not be started: {}; check the limits of processes "
                    "(ulimit -u) and descriptors (ulimit -n)",
                    setup.rank, setup.nranks, std::strerror(failed))};
  }
  ::setpgid(pid, pid);  // by whichever of the two processes comes first
  for (const int end : {out.write_end, err.write_end, trouble.write_end}) ::close(end);
  int error = 0;
  ssize_t got = 0;
  do {
    got = ::read(trouble.read_end, &error, sizeof error);  // ends when the command runs
  } while (got < 0 && errno == EINTR);
  ::close(trouble.read_end);
  if (got == sizeof error) {
    ::close(out.read_end);
    ::close(err.read_end);
    exit_status = error == ENOENT ? kNotFound : kNotExecutable;
    return Error{fmt::format("cannot run '{}': {}; give a program in PATH or a path to one",
                             setup.command[0], std::strerror(error))};
  }
  ::fcntl(out.read_end, F_SETFL, O_NONBLOCK);
  ::fcntl(err.read_end, F_SETFL, O_NONBLOCK);
  return JobRank{pid, out.read_end, err.read_end};
}

}  // namespace purlin::tools
