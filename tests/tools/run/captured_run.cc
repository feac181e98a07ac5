#include "tools/run/captured_run.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "tools/run_command.h"

namespace purlin_test {
namespace {

int call_run(const std::vector<std::string>& arguments) {
  std::vector<char*> words;
  for (const char* word : {"purlin", "run"}) words.push_back(const_cast<char*>(word));
  for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
  int count = static_cast<int>(words.size());
  CLI::App app{"test"};
  app.add_subcommand("perf", "a name that the command may hold too");
  purlin::tools::add_run_command(app, purlin::tools::take_command_to_run(count, words.data()));
  try {
    app.parse(count, words.data());
  } catch (const CLI::RuntimeError& ended) {
    return ended.get_exit_code();
  } catch (const CLI::ParseError& wrong) {
    return app.exit(wrong) == 0 ? 0 : 2;
  }
  return 0;
}

}  // namespace

CapturedRun::CapturedRun(const std::vector<std::string>& arguments, const std::string& input) {
  int in[2], out[2], err[2];
  for (auto* ends : {in, out, err}) REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  REQUIRE(::write(in[1], input.data(), input.size()) == static_cast<ssize_t>(input.size()));
  std::cout.flush();  // else the child prints what doctest has said so far
  pid_ = ::fork();
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) {
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    ::dup2(err[1], 2);
    const int status = call_run(arguments);
    std::cout.flush();
    std::cerr.flush();
    ::_exit(status);
  }
  for (const int end : {in[0], in[1], out[1], err[1]}) ::close(end);
  out_ = out[0];
  err_ = err[0];
}

CapturedRun::~CapturedRun() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (const int fd : {out_, err_})
    if (fd >= 0) ::close(fd);
}

void CapturedRun::signal(int number) const { REQUIRE(::kill(pid_, number) == 0); }

bool CapturedRun::read_some() {
  pollfd polled[2] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
  REQUIRE_MESSAGE(::poll(polled, 2, 60'000) > 0, "no output and no end for 60 s");
  for (int i = 0; i < 2; ++i) {
    if (polled[i].revents == 0) continue;
    int& fd = i == 0 ? out_ : err_;
    char buffer[4096];
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got > 0) {
      (i == 0 ? captured_.out : captured_.err).append(buffer, static_cast<size_t>(got));
    } else {
      ::close(fd);
      fd = -1;
    }
  }
  return out_ >= 0 || err_ >= 0;
}

void CapturedRun::wait_for_output(const std::string& text) {
  while (!contains(captured_.out, text))
    REQUIRE_MESSAGE(read_some(), "ended without saying '" << text << "'");
}

Captured CapturedRun::finish() {
  while (read_some()) {
  }
  int status = 0;
  REQUIRE(::waitpid(pid_, &status, 0) == pid_);
  pid_ = -1;
  captured_.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  return captured_;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

int processes_with(const std::string& mark) {
  int count = 0;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (name == std::to_string(::getpid())) continue;
    std::ifstream in(entry.path() / "cmdline");  // empty once it has ended
    std::ostringstream text;
    text << in.rdbuf();
    if (contains(text.str(), mark)) ++count;
  }
  return count;
}

}  // namespace purlin_test
