#include "rendezvous/hello.h"

#include <cstring>

#include "rendezvous/failure.h"

namespace purlin {

Status send_hello(Channel& channel, const Hello& hello, const Limit& limit) {
  HelloPayload fixed{};
  fixed.token = hello.token;
  fixed.process = hello.intro.process;
  fixed.rank = hello.rank;
  fixed.nranks = hello.nranks;
  fixed.pid = hello.intro.pid;
  fixed.failure_code = hello.intro.trouble.code();
  const std::string text = hello.intro.trouble.message().substr(0, 2000);
  std::vector<std::byte> payload(sizeof fixed + text.size());
  std::memcpy(payload.data(), &fixed, sizeof fixed);
  std::memcpy(payload.data() + sizeof fixed, text.data(), text.size());
  PacketHeader head;
  head.type = MessageType::kHello;
  head.sender = hello.rank;
  head.sequence = hello.sequence;
  head.deadline = hello.deadline;
  const int lifeline = hello.intro.lifeline.get();
  return channel.send(head, payload, {&lifeline, hello.intro.lifeline ? 1u : 0u}, limit);
}

Result<Hello> read_hello(Message message) {
  HelloPayload fixed{};
  if (message.head.type != MessageType::kHello || message.payload.size() < sizeof fixed ||
      message.descriptors.size() > 1)
    return Status(PURLIN_MISMATCH, "the first message was no hello");
  std::memcpy(&fixed, message.payload.data(), sizeof fixed);
  Hello hello;
  hello.token = fixed.token;
  hello.rank = fixed.rank;
  hello.nranks = fixed.nranks;
  hello.sequence = message.head.sequence;
  hello.deadline = message.head.deadline;
  hello.intro.process = fixed.process;
  hello.intro.pid = fixed.pid;
  const auto text = std::span(message.payload).subspan(sizeof fixed);
  if (fixed.failure_code != PURLIN_OK) hello.intro.trouble = status_of(fixed.failure_code, text);
  if (!message.descriptors.empty()) hello.intro.lifeline = std::move(message.descriptors[0]);
  return hello;
}

}  // namespace purlin
