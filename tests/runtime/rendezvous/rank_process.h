// Ranks as processes, driven line by line.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "memory/owned_fd.h"
#include "rendezvous/rendezvous.h"

namespace purlin_test {

// A running rendezvous_rank. Killed when it goes. Every wait ends the test after 100 s.
class RankProcess {
 public:
  RankProcess(const std::string& id_hex, int rank, int nranks, int timeout_ms);
  ~RankProcess();
  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;

  void send(const std::string& command);
  std::string receive();  // the answer to the oldest unanswered command
  std::string ask(const std::string& command) { return send(command), receive(); }
  pid_t pid() const { return pid_; }
  void signal(int number) const;
  void kill();  // SIGKILL, and waits until it is gone
  int wait();   // wait status

 private:
  pid_t pid_ = -1;
  purlin::OwnedFd input_, output_;
  std::string pending_;
};

// A team under one fresh id.
class Team {
 public:
  Team(int nranks, int timeout_ms);
  // Those of ranks in `started` only.
  Team(int nranks, int timeout_ms, const std::vector<int>& started);
  void start(int rank);
  RankProcess& operator[](int rank) { return *ranks_[static_cast<size_t>(rank)]; }
  // Gives the command to all that run, then collects the answers; "" for those that do not.
  std::vector<std::string> ask_all(const std::string& command);
  void send_all(const std::string& command);
  std::vector<std::string> receive_all();
  void kill(int rank);
  std::string name() const;                     // of the socket
  purlin::JoinOptions options(int rank) const;  // for a rank of this process

 private:
  int nranks_, timeout_ms_;
  std::string id_hex_;
  std::vector<std::unique_ptr<RankProcess>> ranks_;
};

// How far a rank gets in a meeting that another one gathers before SIGKILL ends it.
enum class Moment { kKnocked, kSaidHello, kAccepted, kWelcomed };
// Runs such a rank as a child process; returns once it is dead.
void die_while_meeting(const purlin::JoinOptions& options, Moment moment);

// Sockets of that abstract name in this network namespace: the listener and one for each accepted
// connection.
int sockets_named(const std::string& name);
// Waits until at least `count` are there.
void wait_for_sockets(const std::string& name, int count);
int open_descriptors();
bool contains(const std::string& text, const std::string& part);

}  // namespace purlin_test
