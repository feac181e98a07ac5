// Sends and receives: checked one by one, laid out as one launch.
#pragma once

#include <span>

#include "communicator/pair_launch.h"
#include "communicator/prepare.h"
#include "status/status.h"

namespace purlin {

// One purlin_send or purlin_recv. A send's buffer is only read.
struct Message {
  bool sends = false;
  void* buffer = nullptr;
  uint64_t count = 0;
  int dtype = 0;
  int peer = 0;
  purlin_stream_t stream = nullptr;
};

// "send of 100 f32 to rank 3", "receive of 100 f32 from rank 3".
std::string message_text(const Message& message);

// Checks what one rank can check alone. PURLIN_INVALID_ARGUMENT says which argument, its value and
// what is expected.
Status check_message(const Message& message, int nranks);

// Fills `launch` (its params.peers, controls and map are set) for messages that are each checked.
// PURLIN_INVALID_ARGUMENT, before anything is done, when those to and from the own rank do not fit
// each other: the i-th one sent is the i-th one received.
Status prepare_messages(std::span<const Message> messages, const WireFacts& wire, int nranks,
                        int rank, PairLaunch* launch);

}  // namespace purlin
