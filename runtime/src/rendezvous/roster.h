// Who the ranks of a communicator are.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "rendezvous/token.h"

namespace purlin {

struct Seat {
  Identity process{};  // random name of the rank's process
  pid_t pid = 0;       // in its own process namespace
};

struct Roster {
  int rank = 0;  // own
  std::vector<Seat> seats;

  int size() const { return static_cast<int>(seats.size()); }
  bool same_process(int r) const {
    return seats[static_cast<size_t>(r)].process == seats[static_cast<size_t>(rank)].process;
  }
  // "rank 3 (process 4711)".
  std::string describe(int r) const;
};

// "rank 3 (process 4711)".
std::string describe_rank(int rank, pid_t pid);
// "rank 2", "ranks 1, 4-6": for those whose flag is set.
std::string list_ranks(const std::vector<bool>& flags);

}  // namespace purlin
