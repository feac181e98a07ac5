#include "communicator/backend.h"

namespace purlin {

void Backend::prepare_pairs(snac::PairParams*) const {}

Status Backend::launch_pairs(const PairLaunch&) {
  return Status(PURLIN_UNSUPPORTED,
                "purlin_send and purlin_recv are carried out on host ranks only; use "
                "purlin_all_to_all_v, with counts of 0 for other pairs");
}

}  // namespace purlin
