#include "communicator/messages.h"

#include <fmt/format.h>

#include "communicator/element.h"

namespace purlin {
namespace {

using snac::PairList;
using snac::PairMessage;

uint64_t bytes_of(const Message& message) { return message.count * element_bytes(message.dtype); }

PairMessage pair_message(const Message& message, const WireFacts& wire, bool own) {
  PairMessage made;
  made.buffer = static_cast<snac::u8*>(message.buffer);
  made.bytes = bytes_of(message);
  made.descriptor = snac::describe_call(snac::Collective::kSendRecv,
                                        static_cast<snac::u32>(message.dtype), 0, 0, message.count);
  made.signature =
      wire.checking ? snac::pair_signature(snac::mix(1, made.descriptor), made.bytes) : 0;
  made.by_packets = made.bytes <= (own ? 0 : wire.message_limit);
  return made;
}

// Messages of one direction with `peer`, in call order.
PairList list_of(std::span<const Message> messages, bool sends, int peer, const WireFacts& wire,
                 bool own, std::vector<PairMessage>* all) {
  PairList list;
  list.first = static_cast<snac::u32>(all->size());
  for (const Message& message : messages) {
    if (message.sends != sends || message.peer != peer) continue;
    PairMessage made = pair_message(message, wire, own);
    made.first_unit = list.units;
    list.units +=
        made.by_packets != 0 ? 1 : snac::divide_up(made.bytes, wire.config.pair_slot_bytes);
    ++list.count;
    all->push_back(made);
  }
  return list;
}

Status check_own(std::span<const Message> messages, int rank) {
  std::vector<const Message*> sent, received;
  for (const Message& message : messages)
    if (message.peer == rank) (message.sends ? sent : received).push_back(&message);
  if (sent.size() != received.size())
    return Status(
        PURLIN_INVALID_ARGUMENT,
        fmt::format("rank {} sends {} messages to itself and receives {} from itself; issue "
                    "each send to the own rank and its receive in one group",
                    rank, sent.size(), received.size()));
  for (size_t i = 0; i < sent.size(); ++i)
    if (sent[i]->count != received[i]->count || sent[i]->dtype != received[i]->dtype)
      return Status(PURLIN_INVALID_ARGUMENT,
                    fmt::format("rank {}: {} meets {}; both must state the same", rank,
                                message_text(*sent[i]), message_text(*received[i])));
  return {};
}

}  // namespace

std::string message_text(const Message& message) {
  return fmt::format("{} of {} {} {} rank {}", message.sends ? "send" : "receive", message.count,
                     dtype_text(message.dtype), message.sends ? "to" : "from", message.peer);
}

Status check_message(const Message& message, int nranks) {
  const uint64_t es = element_bytes(message.dtype);
  if (es == 0)
    return Status(PURLIN_INVALID_ARGUMENT,
                  fmt::format("dtype is {}, expected one of purlin_dtype (0 to {})", message.dtype,
                              PURLIN_DTYPE_COUNT - 1));
  if (message.peer < 0 || message.peer >= nranks)
    return Status(PURLIN_INVALID_ARGUMENT, fmt::format("peer is {}, expected a rank from 0 to {}",
                                                       message.peer, nranks - 1));
  if (message.count > (uint64_t{1} << 62) / es)
    return Status(PURLIN_INVALID_ARGUMENT, fmt::format("count is {} {} elements: beyond 2^62 bytes",
                                                       message.count, dtype_text(message.dtype)));
  if (message.count != 0 && message.buffer == nullptr)
    return Status(
        PURLIN_INVALID_ARGUMENT,
        fmt::format("{} is null, and count is {}", message.sends ? "send" : "recv", message.count));
  return {};
}

Status prepare_messages(std::span<const Message> messages, const WireFacts& wire, int nranks,
                        int rank, PairLaunch* launch) {
  PURLIN_RETURN_IF_ERROR(check_own(messages, rank));
  snac::PairParams& p = launch->params;
  p.nranks = static_cast<snac::u32>(nranks);
  p.rank = static_cast<snac::u32>(rank);
  p.slots = wire.config.pair_slots;
  p.ctas = 1;
  p.slot_bytes = wire.config.pair_slot_bytes;
  p.packet_bytes = wire.config.pair_packet_bytes;
  p.timeout_ns = wire.timeout_ns;
  launch->messages.clear();
  for (int peer = 0; peer < nranks; ++peer) {
    const auto at = static_cast<size_t>(peer);
    p.sends[at] = list_of(messages, true, peer, wire, peer == rank, &launch->messages);
    p.receives[at] = list_of(messages, false, peer, wire, peer == rank, &launch->messages);
  }
  p.messages = launch->messages.data();
  launch->stream = messages.empty() ? nullptr : messages[0].stream;
  purlin_constants& c = launch->constants;
  c = purlin_constants{};
  c.struct_size = sizeof c;
  c.nranks = p.nranks;
  c.dtype = uint32_t{PURLIN_U8};
  c.op = uint32_t{PURLIN_SUM};
  set_pipeline({}, *wire.limits, &c);
  return {};
}

}  // namespace purlin
