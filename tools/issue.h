// One call of a case, made again and again on the same buffers.
#pragma once

#include <vector>

#include "purlin/purlin.h"
#include "tools/inputs.h"
#include "tools/outcome.h"
#include "tools/rank_memory.h"
#include "tools/shape.h"

namespace purlin::tools {

// References the shape, which outlives it as the memory does.
class Issuer {
 public:
  Issuer(const Case& test, const RankShape& shape, const RankMemory& memory, int rank,
         purlin_path path, unsigned ctas, purlin_comm_t comm, purlin_stream_t stream);
  Issuer(const Issuer&) = delete;
  Issuer& operator=(const Issuer&) = delete;

  // For collectives; valid as long as the issuer.
  const purlin_call& call() const { return call_; }

  // On return this rank's part is complete in host memory, enqueued on a GPU.
  Done operator()() const;

 private:
  Done send_and_receive() const;

  const RankShape& shape_;
  purlin_comm_t comm_;
  purlin_stream_t stream_;
  uint64_t element_bytes_;
  Scalar scalar_;
  purlin_call call_;
};

}  // namespace purlin::tools
