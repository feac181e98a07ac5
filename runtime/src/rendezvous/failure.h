// A Status on its way between ranks.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rendezvous/channel.h"
#include "status/status.h"

namespace purlin {

// An error and the rank at fault (-1: none in particular).
struct Failure {
  Status status;
  int rank = -1;
};

std::vector<std::byte> encode(const Failure& failure);
// A code and text that a peer sent; a code that this library does not know is PURLIN_INTERNAL.
Status status_of(int32_t code, std::span<const std::byte> text);
// Never ok: a payload that makes no sense becomes an error that says so.
Failure decode_failure(std::span<const std::byte> payload);

// Tells the peer, without waiting: a peer that cannot take it is gone or will time out.
void tell(Channel& channel, int sender, const Failure& failure,
          MessageType type = MessageType::kFailure);

}  // namespace purlin
