#include "rendezvous/failure.h"

#include <cstring>

namespace purlin {

std::vector<std::byte> encode(const Failure& failure) {
  constexpr size_t kMostText = 3000;  // with the header one packet
  const std::string text = failure.status.message().substr(0, kMostText);
  const FailurePayload head{static_cast<int32_t>(failure.status.code()), failure.rank};
  std::vector<std::byte> payload(sizeof head + text.size());
  std::memcpy(payload.data(), &head, sizeof head);
  std::memcpy(payload.data() + sizeof head, text.data(), text.size());
  return payload;
}

Failure decode_failure(std::span<const std::byte> payload) {
  FailurePayload head{};
  if (payload.size() < sizeof head)
    return {Status(PURLIN_MISMATCH, "a peer reported a failure in a form that cannot be read"), -1};
  std::memcpy(&head, payload.data(), sizeof head);
  const auto text = payload.subspan(sizeof head);
  const bool known = head.code > PURLIN_OK && head.code <= PURLIN_INTERNAL;
  return {Status(known ? static_cast<purlin_status>(head.code) : PURLIN_INTERNAL,
                 std::string(reinterpret_cast<const char*>(text.data()), text.size())),
          head.rank};
}

void tell(Channel& channel, int sender, const Failure& failure, MessageType type) {
  PacketHeader head;
  head.type = type;
  head.sender = sender;
  const Limit no_wait(std::chrono::milliseconds(0), nullptr);
  (void)channel.send(head, encode(failure), {}, no_wait);
}

}  // namespace purlin
