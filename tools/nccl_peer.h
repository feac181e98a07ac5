// NCCL doing the same case on the same device, for comparison.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/nccl_library.h"
#include "tools/rank_device.h"
#include "tools/rank_link.h"
#include "tools/rank_memory.h"
#include "tools/shape.h"

namespace purlin::tools {

// One rank's communicator. Used by that rank's thread alone.
class NcclPeer {
 public:
  // All ranks of the link together. `symmetric`: buffers of NCCL's own, registered as windows.
  static Outcome<std::unique_ptr<NcclPeer>> join(const NcclLibrary& library, RankLink& link,
                                                 bool symmetric);
  ~NcclPeer();

  // True if NCCL can do it: barriers and pre-multiplied sums have no plain counterpart.
  static bool knows(const Case& test);

  // Times the case as `device` times Purlin's calls. V forms are what NCCL's users write: grouped
  // broadcasts, reduces or sends and receives. Without `symmetric` the buffers are those of
  // `memory`, whose contents change.
  Outcome<Samples> time(const Case& test, const RankShape& shape, RankMemory& memory,
                        RankDevice& device, const Plan& plan, purlin_comm_t comm,
                        const std::function<Done()>& everyone_ready);

 private:
  struct Buffers {
    unsigned char* send = nullptr;
    unsigned char* recv = nullptr;
  };
  // Arenas of NCCL's own, registered; given back when it goes.
  class Windows;

  NcclPeer(const NcclLibrary& library, int rank, bool symmetric)
      : library_(library), rank_(rank), symmetric_(symmetric) {}
  Done call(const Case& test, const RankShape& shape, const Buffers& at,
            purlin_stream_t stream) const;
  Done grouped(const Case& test, const RankShape& shape, const Buffers& at,
               purlin_stream_t stream) const;
  Done each_part(const Case& test, const RankShape& shape, const Buffers& at,
                 purlin_stream_t stream) const;

  const NcclLibrary& library_;
  const int rank_;
  const bool symmetric_;
  NcclComm comm_ = nullptr;
};

}  // namespace purlin::tools
