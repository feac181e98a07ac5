#include "runtime/rendezvous/rank_process.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "rendezvous/channel.h"
#include "rendezvous/door.h"
#include "rendezvous/hello.h"
#include "rendezvous/lifeline.h"

namespace purlin_test {

using purlin::OwnedFd;

RankProcess::RankProcess(const std::string& id_hex, int rank, int nranks, int timeout_ms) {
  int in[2], out[2];
  REQUIRE(::pipe2(in, O_CLOEXEC) == 0);
  REQUIRE(::pipe2(out, O_CLOEXEC) == 0);
  const std::string rank_text = std::to_string(rank);
  const std::string nranks_text = std::to_string(nranks);
  const std::string timeout_text = std::to_string(timeout_ms);
  pid_ = ::fork();
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) {
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    ::execl(PURLIN_RANK_PROGRAM, "rendezvous_rank", id_hex.c_str(), rank_text.c_str(),
            nranks_text.c_str(), timeout_text.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  input_.reset(in[1]);
  output_.reset(out[0]);
}

RankProcess::~RankProcess() {
  if (pid_ > 0) kill();
}

void RankProcess::send(const std::string& command) {
  const std::string line = command + "\n";
  // A rank that was killed cannot read; that its commands go nowhere is the point of such tests.
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, nullptr);
  (void)!::write(input_.get(), line.data(), line.size());
}

std::string RankProcess::receive() {
  while (pending_.find('\n') == std::string::npos) {
    pollfd entry{output_.get(), POLLIN, 0};
    REQUIRE_MESSAGE(::poll(&entry, 1, 100'000) == 1, "a rank did not answer within 100 s");
    char buffer[4096];
    const ssize_t got = ::read(output_.get(), buffer, sizeof buffer);
    if (got <= 0) return "gone";
    pending_.append(buffer, static_cast<size_t>(got));
  }
  const size_t end = pending_.find('\n');
  std::string line = pending_.substr(0, end);
  pending_.erase(0, end + 1);
  return line;
}

void RankProcess::signal(int number) const { REQUIRE(::kill(pid_, number) == 0); }

void RankProcess::kill() {
  ::kill(pid_, SIGKILL);
  wait();
}

int RankProcess::wait() {
  int status = -1;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return status;
}

namespace {
std::vector<int> all_of(int nranks) {
  std::vector<int> ranks;
  for (int r = 0; r < nranks; ++r) ranks.push_back(r);
  return ranks;
}
}  // namespace

Team::Team(int nranks, int timeout_ms) : Team(nranks, timeout_ms, all_of(nranks)) {}

Team::Team(int nranks, int timeout_ms, const std::vector<int>& started)
    : nranks_(nranks), timeout_ms_(timeout_ms), ranks_(static_cast<size_t>(nranks)) {
  purlin_unique_id id;
  REQUIRE(purlin_get_unique_id(&id) == PURLIN_OK);
  id_hex_ = purlin::to_hex(id);
  for (const int rank : started) start(rank);
}

void Team::start(int rank) {
  ranks_[static_cast<size_t>(rank)] =
      std::make_unique<RankProcess>(id_hex_, rank, nranks_, timeout_ms_);
}

void Team::send_all(const std::string& command) {
  for (auto& rank : ranks_)
    if (rank) rank->send(command);
}

std::vector<std::string> Team::receive_all() {
  std::vector<std::string> answers;
  for (auto& rank : ranks_) answers.push_back(rank ? rank->receive() : std::string());
  return answers;
}

std::vector<std::string> Team::ask_all(const std::string& command) {
  send_all(command);
  return receive_all();
}

void Team::kill(int rank) {
  ranks_[static_cast<size_t>(rank)]->kill();
  ranks_[static_cast<size_t>(rank)].reset();
}

std::string Team::name() const { return options(0).address.name; }

purlin::JoinOptions Team::options(int rank) const {
  const auto bytes = purlin::unique_id_from_hex(id_hex_);
  const auto id = purlin::decode(bytes.value());
  purlin::JoinOptions options;
  options.address = purlin::address_of(id.value()).value();
  options.rank = rank;
  options.nranks = nranks_;
  options.timeout = std::chrono::milliseconds(timeout_ms_);
  return options;
}

namespace {

// The guest's half of the protocol, step by step.
void meet_until(const purlin::JoinOptions& options, Moment moment) {
  const purlin::Limit limit(std::chrono::milliseconds(20'000), nullptr);
  auto socket = purlin::knock(options.address.name);
  if (!socket.is_ok() || !*socket) ::_exit(1);
  if (moment == Moment::kKnocked) return;
  purlin::Channel channel(std::move(socket).value(), "the hub");
  purlin::Hello hello;
  hello.token = options.address.token;
  hello.rank = options.rank;
  hello.nranks = options.nranks;
  hello.deadline = limit.deadline();
  hello.intro.process = purlin::process_identity().value();
  hello.intro.pid = ::getpid();
  hello.intro.lifeline = purlin::make_lifeline().value();
  if (!purlin::send_hello(channel, hello, limit)) ::_exit(2);
  if (moment == Moment::kSaidHello) return;
  const auto accepted = channel.receive(limit);
  if (!accepted.is_ok() || accepted->head.type != purlin::MessageType::kAccepted) ::_exit(3);
  if (moment == Moment::kAccepted) return;
  const auto welcome = channel.receive(limit);
  if (!welcome.is_ok() || welcome->head.type != purlin::MessageType::kWelcome) ::_exit(4);
}

}  // namespace

void die_while_meeting(const purlin::JoinOptions& options, Moment moment) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    meet_until(options, moment);
    ::raise(SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE_MESSAGE(WIFSIGNALED(status), "the rank did not get that far: " << WEXITSTATUS(status));
}

int sockets_named(const std::string& name) {
  std::ifstream table("/proc/net/unix");
  int count = 0;
  for (std::string line; std::getline(table, line);)
    if (line.ends_with("@" + name)) ++count;
  return count;
}

void wait_for_sockets(const std::string& name, int count) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (sockets_named(name) < count) {
    REQUIRE_MESSAGE(std::chrono::steady_clock::now() < end, "no " << count << " sockets " << name);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

int open_descriptors() {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace purlin_test
