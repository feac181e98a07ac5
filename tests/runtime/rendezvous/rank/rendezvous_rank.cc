// One rank as a process of its own, driven by its test: reads commands from standard input, answers
// each with one line. Usage: rendezvous_rank ID-IN-HEX RANK NRANKS TIMEOUT-MS
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include "rendezvous/rendezvous.h"

namespace {

using purlin::Rendezvous;
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
    if (command == "join") return join();
    if (!seat_) return "no seat";
    if (command == "barrier") return text_of(seat_->barrier());
    if (command == "park") return text_of(seat_->park());
    if (command == "agree") return agree(arguments);
    if (command == "blob") return blob(arguments);
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

}  // namespace

int main(int argc, char** argv) {
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
