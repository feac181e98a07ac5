// One row of the table: a case checked and timed by every rank together.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "purlin/purlin.h"
#include "tools/nccl_peer.h"
#include "tools/rank_device.h"
#include "tools/rank_link.h"
#include "tools/shape.h"
#include "tools/timing.h"

namespace purlin::tools {

struct BenchSettings {
  bool check = false;
  purlin_path path = PURLIN_PATH_AUTO;
  unsigned ctas = 0;        // 0: the communicator's
  uint64_t iterations = 0;  // calls timed; 0: as plan_calls says
  uint64_t warmup = 5;
  uint64_t seed = 1, misalign = 0;
  bool registered = false;   // with the communicator, so that peers may reach the buffers in place
  NcclPeer* peer = nullptr;  // this rank's, when the row is compared with NCCL
};

struct Row {
  Timing slowest;                    // each figure is the greatest of all ranks'
  std::vector<double> rank_medians;  // by rank
  uint64_t batch = 1;
  double empty = 0;  // of the slowest rank: microseconds of the empty kernel before each call
  int checked_calls = 0;
  uint64_t wrong = 0;  // over all ranks and checked calls
  // Of every byte of every rank's buffers after each checked call. The same case with the same seed
  // has the same digest wherever its results have the same bits.
  uint64_t digest = 0;
  Timing peer;  // NCCL's, of the slowest rank; no calls where it was not asked or cannot
};

// Called by every rank of `link` with the same case and settings. A checked row makes two calls
// with fresh inputs and poisoned results, then times calls on fresh inputs and checks what the last
// of them left; where a call in place changes its own inputs, a further call is checked instead.
// `complain` gets a text for each wrong element (the first few) of this rank. On an error every
// rank returns one.
Outcome<Row> measure(const Case& test, const BenchSettings& settings, purlin_comm_t comm,
                     RankDevice& device, RankLink& link,
                     const std::function<void(const std::string&)>& complain);

}  // namespace purlin::tools
