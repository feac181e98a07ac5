// One call of a case, made again and again on the same buffers.
#pragma once

#include <vector>

#include "purlin/purlin.h"
#include "tools/guarded_buffer.h"
#include "tools/inputs.h"
#include "tools/outcome.h"
#include "tools/shape.h"

namespace purlin::tools {

// References the shape and the buffers, which outlive it.
class Issuer {
 public:
  Issuer(const Case& test, const RankShape& shape, std::vector<GuardedBuffer>& buffers, int rank,
         purlin_path path, unsigned ctas, purlin_comm_t comm);
  Issuer(const Issuer&) = delete;
  Issuer& operator=(const Issuer&) = delete;

  // Returns once this rank's part is complete.
  Done operator()() const;

 private:
  Done send_and_receive() const;

  const RankShape& shape_;
  purlin_comm_t comm_;
  uint64_t element_bytes_;
  Scalar scalar_;
  purlin_call call_;
};

}  // namespace purlin::tools
