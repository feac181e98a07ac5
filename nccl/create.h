// Making communicators.
#pragma once

#include "nccl/comm.h"

namespace purlin::nccl {

struct Membership {
  int nranks = 1;
  int rank = 0;
  UniqueId id{};
  int device = -1;
  void* context = nullptr;
  Wishes wishes;
};

// *out gets a handle at once; the ranks meet now, or at the end of the thread's group, or, if it is
// not to block, in the background (kInProgress). On failure outside a group *out is null.
Result create(const Membership& membership, CommHandle* out);

// Looks whether a creation in the background has ended. comm.mutex is held, comm.purlin is not
// null.
void look_at_creation(Comm& comm);

}  // namespace purlin::nccl
