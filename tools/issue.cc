#include "tools/issue.h"

#include "tools/names.h"

namespace purlin::tools {
namespace {

Done outcome_of(purlin_status status) {
  if (status == PURLIN_OK) return done();
  return Error{purlin_last_error()};
}

}  // namespace

Issuer::Issuer(const Case& test, const RankShape& shape, const RankMemory& memory, int rank,
               purlin_path path, unsigned ctas, purlin_comm_t comm, purlin_stream_t stream)
    : shape_(shape),
      comm_(comm),
      stream_(stream),
      element_bytes_(dtype_bytes(test.dtype)),
      scalar_(premul_scalar(test.dtype, rank)),
      call_{} {
  const auto array = [](const std::vector<uint64_t>& values) {
    return values.empty() ? nullptr : values.data();
  };
  call_.struct_size = sizeof call_;
  call_.collective = test.collective;
  call_.dtype = test.dtype;
  call_.op = test.op;
  call_.root = test.root;
  call_.send = memory.address(shape.send);
  call_.recv = memory.address(shape.recv);
  call_.count = shape.count;
  call_.send_counts = array(shape.send_counts);
  call_.send_displs = array(shape.send_displs);
  call_.recv_counts = array(shape.recv_counts);
  call_.recv_displs = array(shape.recv_displs);
  if (reduces(test.collective) && test.op == PURLIN_PREMUL_SUM) call_.scalar = scalar_.bytes;
  call_.path = path;
  call_.cta_budget = ctas;
}

Done Issuer::operator()() const {
  if (call_.collective == PURLIN_SEND_RECV) return send_and_receive();
  return outcome_of(purlin_run(&call_, comm_, stream_));
}

Done Issuer::send_and_receive() const {
  const auto dtype = static_cast<purlin_dtype>(call_.dtype);
  if (Done began = outcome_of(purlin_group_start()); !began) return began;
  Done worst = done();
  for (const Transfer& part : shape_.sends) {
    const auto* from = static_cast<const unsigned char*>(call_.send) + part.offset * element_bytes_;
    Done one = outcome_of(purlin_send(from, part.count, dtype, part.peer, comm_, stream_));
    if (!one && worst) worst = one;
  }
  for (const Transfer& part : shape_.receives) {
    auto* to = static_cast<unsigned char*>(call_.recv) + part.offset * element_bytes_;
    Done one = outcome_of(purlin_recv(to, part.count, dtype, part.peer, comm_, stream_));
    if (!one && worst) worst = one;
  }
  Done ended = outcome_of(purlin_group_end());
  return worst ? ended : worst;
}

}  // namespace purlin::tools
