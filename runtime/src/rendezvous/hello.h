// The first message of a rank that comes to a meeting.
#pragma once

#include <sys/types.h>

#include "memory/owned_fd.h"
#include "rendezvous/channel.h"
#include "rendezvous/token.h"
#include "status/status.h"

namespace purlin {

// What a process shows of itself when it comes.
struct Introduction {
  Identity process{};
  pid_t pid = 0;
  OwnedFd lifeline;  // when a communicator is founded
  Status trouble;    // this rank cannot take part; the others shall know
};

struct Hello {
  Token token{};
  int rank = 0;
  int nranks = 0;
  uint64_t sequence = 0;
  uint64_t deadline = 0;
  Introduction intro;
};

Status send_hello(Channel& channel, const Hello& hello, const Limit& limit);

// PURLIN_MISMATCH for a message that is no hello. Checks nothing that only the hub can know.
Result<Hello> read_hello(Message message);

}  // namespace purlin
