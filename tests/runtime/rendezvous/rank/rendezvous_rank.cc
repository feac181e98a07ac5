// One rank as a process of its own. Usage:
//   rendezvous_rank ID-IN-HEX RANK NRANKS TIMEOUT-MS
//     Driven by its test: reads commands from standard input, answers each with one line.
//   rendezvous_rank TIMEOUT-MS
//     Takes its place from the launcher's environment, meets the others, says whom it met.
#include <sys/syscall.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include "memory/shared_memory.h"
#include "rendezvous/rendezvous.h"

namespace {

using purlin::Rendezvous;
using purlin::SharedMemory;
using purlin::Status;

std::string text_of(const Status& status) {
  return status ? "ok" : std::string(purlin_status_name(status.code())) + ": " + status.message();
}

// Waits for something that the test has brought about; gives up after 20 s.
template <class Condition>
bool eventually(Condition condition) {
  for (int i = 0; i < 20'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

class Rank {
 public:
  explicit Rank(purlin::JoinOptions options) : options_(std::move(options)) {}

  std::string answer(const std::string& command, std::istringstream& arguments) {
    if (command == "pid") return std::to_string(::getpid());
    if (command == "user") return switch_user(arguments);
    if (command == "limit") return limit_descriptors(arguments);
    if (command == "hostile-folders") return hostile_folders();
    if (command == "user-space") return text_of_call(::unshare(CLONE_NEWUSER), "unshare");
    if (command == "process-space") return new_process_space();
    if (command == "join") return join();
    if (!seat_) return "no seat";
    if (command == "barrier") return text_of(seat_->barrier());
    if (command == "park") return text_of(seat_->park());
    if (command == "agree") return agree(arguments);
    if (command == "blob") return blob(arguments);
    if (command == "share") return share();
    if (command == "destroy") {
      seat_.reset();
      return "ok";
    }
    if (command == "lost")  // waits for a loss
      return eventually([&] { return seat_->liveness().lost_rank() >= 0; })
                 ? "rank " + std::to_string(seat_->liveness().lost_rank())
                 : "nobody is lost";
    if (command == "lost-now") return std::to_string(seat_->liveness().lost_rank());
    if (command == "abort-word-now") return std::to_string(abort_word_.load());
    if (command == "abort-word") return abort_word();
    if (command == "state") {
      int rank = 0;
      arguments >> rank;
      return std::to_string(static_cast<unsigned>(seat_->liveness().state(rank)));
    }
    return "unknown command " + command;
  }

 private:
  std::string join() {
    auto joined = Rendezvous::join(options_);
    if (!joined) return text_of(joined.status());
    seat_ = std::move(joined).value();
    seat_->liveness().set_abort_word(&abort_word_, 7);
    return "ok";
  }
  std::string agree(std::istringstream& arguments) {
    std::string text;
    std::getline(arguments >> std::ws, text);
    return text_of(seat_->agree(text.empty() ? Status() : Status(PURLIN_UNSUPPORTED, text)));
  }
  std::string blob(std::istringstream& arguments) {
    std::string text;
    arguments >> text;
    const auto all = seat_->all_gather_blob(std::as_bytes(std::span(text)));
    if (!all) return text_of(all.status());
    std::string joined;
    for (const auto& one : *all)
      joined.append(reinterpret_cast<const char*>(one.data()), one.size()).append(" ");
    return joined;
  }
  // Rank 0's memory of 1 MiB, written to by all.
  std::string share() {
    auto mine = SharedMemory::create("purlin-test-share", 1 << 20);
    if (!mine) return text_of(mine.status());
    const int fd = mine->fd();
    auto got = seat_->broadcast_fds(0, {&fd, 1});
    if (!got) return text_of(got.status());
    auto shared = SharedMemory::adopt(std::move((*got)[0]), 1 << 20);
    if (!shared) return text_of(shared.status());
    for (uint64_t i = 0; i < shared->size(); i += 4096)
      if (seat_->rank() == 0 && shared->data()[i] != std::byte{0}) return "not zeroed";
    if (const Status met = seat_->barrier(); !met) return text_of(met);
    shared->data()[seat_->rank()] = static_cast<std::byte>(seat_->rank() + 1);
    if (const Status met = seat_->barrier(); !met) return text_of(met);
    for (int r = 0; r < seat_->size(); ++r)
      if (shared->data()[r] != static_cast<std::byte>(r + 1)) return "wrong byte";
    return "ok";
  }
  static std::string text_of_call(int result, const std::string& call) {
    return result == 0 ? "ok" : "cannot " + call + ": " + std::strerror(errno);
  }
  // No room in /dev/shm, nothing can be written to /tmp, TMPDIR is long and does not exist.
  static std::string hostile_folders() {
    if (::unshare(CLONE_NEWNS) != 0) return text_of_call(-1, "unshare");
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      return text_of_call(-1, "mount /");
    for (const char* folder : {"/dev/shm", "/tmp"})
      if (::mount("none", folder, "tmpfs", MS_RDONLY, "size=4k") != 0)
        return text_of_call(-1, std::string("mount ") + folder);
    return text_of_call(::setenv("TMPDIR", ("/none/" + std::string(200, 'x')).c_str(), 1),
                        "setenv");
  }
  // Goes on as process 1 of a process namespace; the first process waits for it.
  static std::string new_process_space() {
    if (::unshare(CLONE_NEWPID) != 0) return text_of_call(-1, "unshare");
    const pid_t inner = ::fork();
    if (inner < 0) return text_of_call(-1, "fork");
    if (inner > 0) {
      ::close(0);
      ::close(1);
      int status = 0;
      ::waitpid(inner, &status, 0);
      std::_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }
    return text_of_call(::prctl(PR_SET_PDEATHSIG, SIGKILL), "prctl");
  }
  std::string abort_word() {
    eventually([&] { return abort_word_.load(std::memory_order_acquire) != 0; });
    return std::to_string(abort_word_.load());
  }
  static std::string switch_user(std::istringstream& arguments) {
    uid_t user = 0;
    arguments >> user;
    return ::setuid(user) == 0 ? "ok" : "setuid failed";
  }
  static std::string limit_descriptors(std::istringstream& arguments) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    arguments >> limit.rlim_cur;
    return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? "ok" : "setrlimit failed";
  }

  purlin::JoinOptions options_;
  std::atomic<uint32_t> abort_word_{0};
  std::unique_ptr<Rendezvous> seat_;
};

int meet_by_environment(int timeout_ms) {
  const auto found = purlin::detect_launcher();
  if (!found) return std::cerr << found.status().message() << std::endl, 1;
  if (!*found) return std::cerr << "no launcher" << std::endl, 1;
  const auto address = purlin::address_of(**found);
  if (!address) return std::cerr << address.status().message() << std::endl, 1;
  purlin::JoinOptions options;
  options.address = address.value();
  options.rank = (*found)->rank;
  options.nranks = (*found)->nranks;
  options.timeout = std::chrono::milliseconds(timeout_ms);
  const auto joined = Rendezvous::join(options);
  if (!joined) return std::cerr << joined.status().message() << std::endl, 1;
  const std::string mine = std::to_string(options.rank);
  const auto all = joined.value()->all_gather_blob(std::as_bytes(std::span(mine)));
  if (!all) return std::cerr << all.status().message() << std::endl, 1;
  std::string line = "rank " + mine + " met";
  for (const auto& one : *all)
    line += " " + std::string(reinterpret_cast<const char*>(one.data()), one.size());
  std::cout << line + (joined.value()->token_used() ? ", token" : ", no token") + "\n"
            << std::flush;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // Tests count descriptors from the three standard ones: whoever started them may have left more.
  ::syscall(SYS_close_range, 3u, ~0u, 0u);
  if (argc == 2) return meet_by_environment(std::atoi(argv[1]));
  if (argc != 5) return 2;
  const auto bytes = purlin::unique_id_from_hex(argv[1]);
  if (!bytes) return 2;
  const auto id = purlin::decode(bytes.value());
  if (!id) return 2;
  const auto address = purlin::address_of(id.value());
  if (!address) return 2;
  purlin::JoinOptions options;
  options.address = address.value();
  options.rank = std::atoi(argv[2]);
  options.nranks = std::atoi(argv[3]);
  options.timeout = std::chrono::milliseconds(std::atoi(argv[4]));
  Rank rank(options);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "exit") std::_Exit(0);  // leaves without a goodbye
    std::cout << rank.answer(command, words) << std::endl;
  }
  return 0;
}
