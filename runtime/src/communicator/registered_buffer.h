// A buffer that the application registered with a communicator.
#pragma once

#include <optional>

#include "memory/registration.h"
#include "rendezvous/rendezvous.h"

namespace purlin {

// Holds the physical memory of a GPU buffer that peers could map. Calls of this version go through
// staging with registered buffers too.
class RegisteredBuffer {
 public:
  RegisteredBuffer(const Identity& communicator, std::optional<BufferOffer> offer)
      : communicator_(communicator), offer_(std::move(offer)) {}
  const Identity& communicator() const { return communicator_; }

 private:
  Identity communicator_;
  std::optional<BufferOffer> offer_;  // none: host memory
};

}  // namespace purlin
