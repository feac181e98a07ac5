// The sends and receives of one launch: what the communicator hands to its backend.
#pragma once

#include <vector>

#include "purlin/purlin.h"
#include "snac/pair_params.h"

namespace purlin {

// Owned by the communicator, reused from launch to launch. `params.messages` points to `messages`
// in host memory; a GPU backend gives its kernel a copy.
struct PairLaunch {
  snac::PairParams params;
  std::vector<snac::PairMessage> messages;
  purlin_constants constants{};
  purlin_stream_t stream = nullptr;
};

}  // namespace purlin
