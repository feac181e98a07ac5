#include "rendezvous/watcher.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "rendezvous/channel.h"
#include "rendezvous/lifeline.h"
#include "runtime/rendezvous/rank_process.h"

namespace {

using namespace purlin;

// A child process that ends when told to, and its lifeline.
class Child {
 public:
  explicit Child(LifelineKind kind) {
    int link[2], lines[2];
    REQUIRE(::pipe2(link, O_CLOEXEC) == 0);
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, lines) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      ::close(link[1]);
      const auto line = make_lifeline(kind);
      Channel channel(OwnedFd(lines[1]), "parent");
      const int fd = line.is_ok() ? line->get() : -1;
      PacketHeader head;
      head.type = MessageType::kHello;
      (void)channel.send(head, {}, {&fd, 1}, Limit(std::chrono::seconds(10), nullptr));
      char byte = 0;
      (void)!::read(link[0], &byte, 1);
      ::_exit(0);
    }
    ::close(link[0]);
    ::close(lines[1]);
    end_.reset(link[1]);
    Channel channel(OwnedFd(lines[0]), "child");
    auto hello = channel.receive(Limit(std::chrono::seconds(20), nullptr));
    REQUIRE_MESSAGE(hello.is_ok(), hello.status().message());
    REQUIRE(hello->descriptors.size() == 1);
    line = std::move(hello->descriptors[0]);
    REQUIRE(fill_random(name));
  }
  ~Child() {
    end();
    ::waitpid(pid_, nullptr, 0);
  }
  void end() { end_.reset(); }
  pid_t pid() const { return pid_; }

  OwnedFd line;
  Identity name{};

 private:
  pid_t pid_ = -1;
  OwnedFd end_;
};

// The record of rank 0 (this process) and one rank for each child.
std::shared_ptr<LivenessRecord> record_for(const std::vector<Identity>& peers) {
  Roster roster;
  roster.seats.push_back({process_identity().value(), ::getpid()});
  for (const Identity& peer : peers) roster.seats.push_back({peer, 1});
  auto control = ControlBlock::create(roster.size());
  REQUIRE(control.is_ok());
  return std::make_shared<LivenessRecord>(std::move(roster), std::move(control).value());
}

bool has_ended(const OwnedFd& line) {
  pollfd entry{line.get(), POLLIN, 0};
  return ::poll(&entry, 1, 0) == 1;
}

void wait_for(const std::atomic<int>& word, int value) {
  while (word != value) std::this_thread::yield();
}

// Of watchers only: their threads carry the name.
int watcher_threads() {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream in(task.path() / "comm");
    std::string name;
    if (std::getline(in, name) && name == "purlin-watcher") ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("both kinds of lifeline tell the end of a process, not its being stopped") {
  for (const auto kind : {LifelineKind::kProcess, LifelineKind::kPipe}) {
    Child child(kind);
    CHECK_FALSE(has_ended(child.line));
    REQUIRE(::kill(child.pid(), SIGSTOP) == 0);
    int status = 0;
    REQUIRE(::waitpid(child.pid(), &status, WUNTRACED) == child.pid());
    CHECK_FALSE(has_ended(child.line));
    REQUIRE(::kill(child.pid(), SIGCONT) == 0);
    child.end();
    pollfd entry{child.line.get(), POLLIN, 0};
    CHECK(::poll(&entry, 1, 20'000) == 1);
  }
}

TEST_CASE("a forked child has a name of its own and does not hold its parent's line") {
  const auto mine = process_identity();
  const auto line = make_lifeline(LifelineKind::kPipe);
  REQUIRE(mine.is_ok());
  REQUIRE(line.is_ok());
  CHECK(process_identity().value() == mine.value());
  const pid_t child = ::fork();
  if (child == 0) {
    if (process_identity().value() == mine.value()) ::_exit(1);
    ::_exit(has_ended(*line) ? 2 : 0);  // the parent lives
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("one thread watches for all, tells each once, and goes with the last subscription") {
  CHECK(watcher_threads() == 0);
  const int before = purlin_test::open_descriptors();
  {
    Child first(LifelineKind::kProcess), second(LifelineKind::kPipe);
    auto a = record_for({first.name, second.name});
    auto b = record_for({first.name});
    std::atomic<int> calls_a{0}, calls_b{0}, last{-1};
    a->on_loss([&](int rank) {
      last = rank;
      ++calls_a;
    });
    b->on_loss([&](int) { ++calls_b; });
    std::atomic<uint32_t> word{0};
    a->set_abort_word(&word, 9);
    REQUIRE(watch(first.name, first.line.duplicate(), a));
    REQUIRE(watch(second.name, second.line.duplicate(), a));
    REQUIRE(watch(first.name, first.line.duplicate(), b));
    CHECK(watcher_threads() == 1);
    CHECK(a->lost() == -1);

    second.end();
    wait_for(calls_a, 1);
    CHECK(last == 2);
    CHECK(a->lost() == 2);
    CHECK(a->control().state(2) == PeerState::kLost);
    CHECK(word == 9);
    CHECK(calls_b == 0);

    unwatch(b);  // is told nothing more
    first.end();
    wait_for(calls_a, 2);
    CHECK(last == 1);
    CHECK(a->lost() == 2);  // the first stays
    CHECK(calls_b == 0);
    CHECK(b->control().state(1) == PeerState::kMember);

    // Subscribed after the end, while the watcher still knows the process.
    auto late = record_for({first.name});
    std::atomic<int> calls_late{0};
    late->on_loss([&](int) { ++calls_late; });
    REQUIRE(watch(first.name, first.line.duplicate(), late));
    wait_for(calls_late, 1);
    unwatch(late);
    unwatch(a);
    CHECK(watcher_threads() == 0);
  }
  CHECK(purlin_test::open_descriptors() == before);
}

TEST_CASE("a process that ended before anybody subscribed is noticed") {
  Child child(LifelineKind::kProcess);
  child.end();
  pollfd entry{child.line.get(), POLLIN, 0};
  REQUIRE(::poll(&entry, 1, 20'000) == 1);
  auto record = record_for({child.name});
  REQUIRE(watch(child.name, child.line.duplicate(), record));
  wait_for(record->lost(), 1);
  std::atomic<int> told{-1};
  record->on_loss([&](int rank) { told = rank; });  // at once
  CHECK(told == 1);
  unwatch(record);
}

TEST_CASE("who has said goodbye is not lost when its process ends") {
  // The later child holds the earlier one's pipe open, so it must end first.
  Child other(LifelineKind::kProcess), child(LifelineKind::kProcess);
  auto record = record_for({child.name, other.name});
  record->control().mark_left(1);
  REQUIRE(watch(child.name, child.line.duplicate(), record));
  REQUIRE(watch(other.name, other.line.duplicate(), record));
  child.end();
  pollfd entry{child.line.get(), POLLIN, 0};
  REQUIRE(::poll(&entry, 1, 20'000) == 1);
  other.end();  // later than the first, so that the watcher has seen both
  wait_for(record->lost(), 2);
  CHECK(record->control().state(1) == PeerState::kLeft);
  record->control().mark_lost(1);  // has no effect any more
  CHECK(record->control().state(1) == PeerState::kLeft);
  unwatch(record);
}

TEST_CASE("a control block of other size or make is refused") {
  auto block = ControlBlock::create(3);
  REQUIRE(block.is_ok());
  const OwnedFd fd = block->take_fd();
  CHECK(ControlBlock::adopt(fd.duplicate(), 3).is_ok());
  CHECK(ControlBlock::adopt(fd.duplicate(), 4).status().code() == PURLIN_MISMATCH);
  auto blank = SharedMemory::create("purlin-test-blank", ControlBlock::kBytes);
  REQUIRE(blank.is_ok());
  CHECK(ControlBlock::adopt(blank->take_fd(), 3).status().code() == PURLIN_MISMATCH);
}
