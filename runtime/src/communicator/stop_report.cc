#include "communicator/stop_report.h"

#include <cstring>

#include <fmt/format.h>

#include "communicator/call_facts.h"

namespace purlin {
namespace {

using snac::StopKind;
using snac::StopRecord;

bool copying(uint32_t collective) {
  return collective != PURLIN_ALL_REDUCE && collective != PURLIN_REDUCE_SCATTER &&
         collective != PURLIN_REDUCE_SCATTER_V && collective != PURLIN_REDUCE &&
         collective != PURLIN_CUSTOM;
}

bool is_message(const StopRecord& record) {
  return snac::described_collective(record.expected_call) == PURLIN_SEND_RECV;
}

std::string position(const StopRecord& record) {
  if (is_message(record))
    return fmt::format("in {} {}, sequence number {} of that pair, chunk {}",
                       record.step == 0 ? "sending" : "receiving",
                       describe_descriptor(record.expected_call), record.epoch, record.chunk);
  const std::string place = fmt::format("in {}, epoch {}, step {}", describe_descriptor(record.expected_call),
                                        record.epoch, (record.step & ~snac::kExitStep) + 1);
  if ((record.step & snac::kExitStep) != 0)
    return fmt::format("{}, to finish reading the buffer of rank {}", place, record.rank);
  return fmt::format("{}, chunk {}", place, record.chunk);
}

std::string bytes_text(const StopRecord& record, bool expected) {
  return fmt::format("{} bytes", expected ? record.expected_bytes : record.found_bytes);
}

std::string message_mismatch(const StopRecord& record, const std::string& rank,
                             const std::string& peer) {
  if (snac::described_collective(record.found_call) == PURLIN_SEND_RECV)
    return fmt::format("ranks disagree about sequence number {} of a pair: {} receives {} ({}), {} sends {} "
                       "({}); state the same count and dtype on both",
                       record.epoch, rank, describe_descriptor(record.expected_call),
                       bytes_text(record, true), peer, describe_descriptor(record.found_call),
                       bytes_text(record, false));
  return fmt::format("ranks disagree about the order of calls: {} waits for {}, {}, and {} makes {}; "
                     "make calls in an order that all ranks can follow, or in one group",
                     rank, peer, position(record), peer, describe_descriptor(record.found_call));
}

Status status_of(const StopRecord& record, const std::string& where, const DescribeRank& describe) {
  const std::string rank = describe(static_cast<int>(record.rank));
  const std::string peer = describe(static_cast<int>(record.peer));
  switch (record.kind) {
    case StopKind::kTimeout:
      return Status(PURLIN_TIMEOUT,
                    fmt::format("{}{} waited for {} beyond the time limit, {}; look at what that rank is "
                                "doing, or raise the policy's timeouts.wait", where, rank, peer,
                                position(record)));
    case StopKind::kMismatch:
      if (is_message(record)) return Status(PURLIN_MISMATCH, where + message_mismatch(record, rank, peer));
      return Status(
          PURLIN_MISMATCH,
          fmt::format("{}ranks disagree about call {}: {} makes {}, expecting {} from {}; {} makes {}, "
                      "sending {}; make the same call on every rank",
                      where, record.epoch, rank, describe_descriptor(record.expected_call),
                      bytes_text(record, true), peer, peer, describe_descriptor(record.found_call),
                      bytes_text(record, false)));
    case StopKind::kAborted:
      return Status(PURLIN_ABORTED, fmt::format("{}{} called purlin_comm_abort", where, rank));
    case StopKind::kPeerLost:
      return Status(PURLIN_PEER_LOST,
                    fmt::format("{}{} is gone while {} waited for it, {}", where, peer, rank,
                                position(record)));
    case StopKind::kRefused:
      return Status(PURLIN_INVALID_ARGUMENT,
                    fmt::format("{}{} refused its arguments while {} waited for it, {}; that rank's own "
                                "error says why", where, peer, rank, position(record)));
    case StopKind::kCountBound:
      return Status(PURLIN_INVALID_ARGUMENT,
                    fmt::format("{}{} found a count of {} bytes in device memory, above the call's bound "
                                "of {} bytes, {}; nothing was written outside", where, rank,
                                record.found_bytes, record.expected_bytes, position(record)));
    case StopKind::kUnreadable:
      return Status(PURLIN_SYSTEM_ERROR,
                    fmt::format("{}{} cannot read the input of {} where it lies: {}, {}; if that buffer "
                                "is sound, set zero_copy: off in the policy", where, rank, peer,
                                std::strerror(static_cast<int>(record.found_bytes)), position(record)));
    case StopKind::kNoWindow:
      return Status(PURLIN_INVALID_USAGE,
                    fmt::format("{}{} was to read from registration {} of {} and has it no more, {}; "
                                "deregister a buffer on all ranks between the same two calls, and replay "
                                "no graph that holds it afterwards", where, rank, record.found_bytes, peer,
                                position(record)));
    case StopKind::kTold:
    case StopKind::kNone:
      break;
  }
  return Status(PURLIN_INTERNAL, fmt::format("{}{} stopped without a record", where, rank));
}

bool has_record(const snac::Control& control) {
  return __atomic_load_n(&control.recorded, __ATOMIC_ACQUIRE) != 0;
}

}  // namespace

std::string describe_descriptor(uint64_t call) {
  const uint32_t collective = snac::described_collective(call);
  const auto dtype = static_cast<int>(snac::described_dtype(call));
  std::string text = collective_text(static_cast<int>(collective));
  if (collective == PURLIN_BARRIER) return text;
  if (collective == PURLIN_SEND_RECV) text = "a message";
  const uint64_t count = snac::described_count(call);
  const bool listed = collective >= PURLIN_ALL_GATHER_V && collective <= PURLIN_ALL_TO_ALL_V;
  if (listed && count != 0) text += fmt::format(" of {}, at most {}", dtype_text(dtype), count);
  else if (listed) text += fmt::format(" of {}", dtype_text(dtype));
  else text += fmt::format(" of {} {}", count, dtype_text(dtype));
  if (!copying(collective))
    text += fmt::format(", {}", op_text(static_cast<int>(snac::described_op(call))));
  if (collective >= PURLIN_BROADCAST && collective <= PURLIN_GATHER)
    text += fmt::format(", root {}", snac::described_root(call));
  return text;
}

Status report_stop(const snac::Control& own, int rank, int lost, const std::string& communicator,
                   const std::function<const snac::Control*(int rank)>& control_of,
                   const DescribeRank& describe) {
  const std::string where = fmt::format("communicator {}: ", communicator);
  const uint32_t stop = __atomic_load_n(&own.stop, __ATOMIC_ACQUIRE);
  const bool recorded = has_record(own);
  if (recorded && own.record.kind != StopKind::kTold) return status_of(own.record, where, describe);
  const std::string stood =
      recorded ? fmt::format("; {} waited for {}, {}", describe(rank),
                             describe(static_cast<int>(own.record.peer)), position(own.record))
               : std::string();
  if (stop == snac::kStopPeerLost) {
    return Status(PURLIN_PEER_LOST,
                  fmt::format("{}{} is gone{}", where,
                              lost >= 0 ? describe(lost) : std::string("a peer's process"), stood));
  }
  if (stop >= snac::kStopAborted) {
    const int asker = static_cast<int>(stop - snac::kStopAborted);
    return Status(PURLIN_ABORTED,
                  fmt::format("{}{} called purlin_comm_abort{}", where, describe(asker), stood));
  }
  const int teller = static_cast<int>(stop) - 1;
  const snac::Control* other = control_of(teller);
  if (other == nullptr || !has_record(*other))
    return Status(PURLIN_BROKEN, fmt::format("{}{} stopped{}", where, describe(teller), stood));
  if (other->record.kind == StopKind::kTold) {
    // The teller itself stopped because a process went.
    return Status(PURLIN_PEER_LOST, fmt::format("{}{} is gone{}", where,
                                                lost >= 0 ? describe(lost)
                                                          : describe(static_cast<int>(other->record.peer)),
                                                stood));
  }
  const Status cause = status_of(other->record, where, describe);
  return Status(cause.code(), cause.message() + stood);
}

}  // namespace purlin
