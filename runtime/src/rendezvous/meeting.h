// One meeting of all ranks under a name: whoever comes first gathers the others.
#pragma once

#include <memory>
#include <vector>

#include "rendezvous/address.h"
#include "rendezvous/channel.h"
#include "rendezvous/hello.h"
#include "rendezvous/limit.h"
#include "rendezvous/liveness_record.h"
#include "rendezvous/roster.h"

namespace purlin {

struct MeetingRequest {
  Address address;
  int rank = 0;
  int nranks = 1;
  Limit limit;
  // A reunion of members: their record, and the number of the exchange they meet for.
  const LivenessRecord* members = nullptr;
  uint64_t sequence = 0;
};

// The connections of a meeting. When a communicator was founded, also what it is made of.
struct Circle {
  int hub = 0;
  // By rank. The hub has one to each other rank, the others have one to the hub.
  std::vector<std::unique_ptr<Channel>> channels;

  Identity communicator{};
  Token token{};
  Roster roster;
  OwnedFd control;  // the control block
  struct Line {
    Identity process;
    OwnedFd lifeline;
  };
  std::vector<Line> lines;  // one for each other process
};

// Blocks until all have come or the limit is over. Errors as in Rendezvous.
Result<Circle> meet(const MeetingRequest& request);

// The first to come. `door` is bound to the request's name; it is closed before anybody is let go.
Result<Circle> gather(const MeetingRequest& request, Introduction self, OwnedFd door);

}  // namespace purlin
