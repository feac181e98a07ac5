// Ranks as threads over plain memory: what the tests of SNAC run calls on.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "snac/host_direct.h"
#include "snac/host_run.h"
#include "snac/plan.h"

namespace purlin::test {

using Bytes = std::vector<unsigned char>;

struct WorldOptions {
  snac::u32 nranks = 2;
  snac::u64 latency_bytes = 4096;
  snac::u64 throughput_bytes = 4096;
  snac::u64 switch_bytes = 0;
  snac::u64 chunk_bytes = 256;
  snac::Direction first = snac::Direction::kPull;
  snac::Direction second = snac::Direction::kPull;
  snac::u32 ctas = 1;
  snac::u64 timeout_ns = 30'000'000'000;
};

inline constexpr snac::u64 kApart = ~snac::u64{0};

struct WorldCall {
  snac::Collective collective = snac::Collective::kAllReduce;
  snac::Transformation transformation;
  bool one_shot = false;
  bool latency = false;
  // Neither of the others then. Whoever has finished spoils its replica at once.
  bool switched = false;
  bool throughput = true;  // both: pairs of at most pair_limit bytes use packets
  snac::u64 pair_limit = 0;
  snac::u64 count = 0;
  snac::u32 root = 0;
  bool in_place = false;
  const snac::ReadPeer* direct = nullptr;  // throughput: read peers' input by this
  bool windows = false;        // throughput: the ranks of these masks offer their buffers in windows
  snac::u64 open_inputs = 0;
  snac::u64 open_outputs = 0;
  std::function<void(snac::u32)> mapped;  // called by each rank once its table of windows is written
  // Where the input of a rank begins in its `recv`, or its output in its `send`; kApart: nowhere.
  std::function<snac::u64(snac::u32)> input_in_output, output_in_input;
  std::function<void(snac::u32)> after;    // called by each rank once its call is over
};

class World {
 public:
  explicit World(const WorldOptions& options);
  // Runs `call` on every rank; `send` and `recv` of each rank. Element type u8. Sets of counts are
  // taken from `sizes` when given (one for each rank). Returns whether each rank finished.
  std::vector<bool> run(const WorldCall& call, std::vector<Bytes>* send, std::vector<Bytes>* recv,
                        const std::vector<snac::CallSizes>* sizes = nullptr,
                        const std::function<void(snac::u32)>& before = {});
  const snac::StopRecord& record(snac::u32 rank) const;
  // Memory of a rank, as its peers see it.
  snac::u8* block(snac::u32 rank) { return memory_[rank][0].bytes; }
  const snac::WireMap& map() const { return map_; }

 private:
  // Writes lines 1 (inputs) and 2 (outputs) of the table of `rank`.
  void map_windows(snac::u32 rank, std::vector<Bytes>* send, std::vector<Bytes>* recv);
  struct alignas(4096) Page {
    unsigned char bytes[4096];
  };
  WorldOptions options_;
  snac::WireMap map_;
  std::vector<snac::Control> controls_;
  std::vector<std::unique_ptr<Page[]>> memory_;
  std::vector<snac::u64> epochs_;
};

}  // namespace purlin::test
