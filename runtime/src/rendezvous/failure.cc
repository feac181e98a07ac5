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

Status status_of(int32_t code, std::span<const std::byte> text) {
  const bool known = code > PURLIN_OK && code <= PURLIN_INTERNAL;
  return {known ? static_cast<purlin_status>(code) : PURLIN_INTERNAL,
          std::string(reinterpret_cast<const char*>(text.data()), text.size())};
}

Failure decode_failure(std::span<const std::byte> payload) {
  FailurePayload head{};
  if (payload.size() < sizeof head)
    return {Status(PURLIN_MISMATCH, "a peer reported a failure in a form that cannot be read"), -1};
  std::memcpy(&head, payload.data(), sizeof head);
  return {status_of(head.code, payload.subspan(sizeof head)), head.rank};
}

void tell(Channel& channel, int sender, const Failure& failure, MessageType type) {
  PacketHeader head;
  head.type = type;
  head.sender = sender;
  const Limit no_wait(std::chrono::milliseconds(0), nullptr);
  (void)channel.send(head, encode(failure), {}, no_wait);
}

}  // namespace purlin
