// A buffer that a rank registered, with the peers' buffers of the same registration: what a backend
// makes of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "snac/wire.h"
#include "status/status.h"

namespace purlin {

// Keeps own buffer shared and the peers' mapped. Destroyed when no launch of this rank that reads
// them runs any more.
class WindowMemory {
 public:
  virtual ~WindowMemory() = default;
  // PURLIN_INVALID_USAGE if memory under [offset, offset + bytes) of own buffer has been freed, or
  // freed and allocated anew, since.
  virtual Status check_unchanged(uint64_t /*offset*/, uint64_t /*bytes*/) const { return {}; }
};

struct MappedWindow {
  std::vector<snac::WindowBuffer> buffers;  // of every rank; base 0: out of this rank's reach
  std::string why_not;                      // for the first of them that is, "" if there is none
  std::unique_ptr<WindowMemory> memory;
};

}  // namespace purlin
