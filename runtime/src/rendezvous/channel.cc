#include "rendezvous/channel.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace purlin {
namespace {

Status descriptor_limit(const std::string& what, const std::string& found) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return {PURLIN_SYSTEM_ERROR,
          fmt::format("{}: {}; RLIMIT_NOFILE of process {} is {}: raise it (ulimit -n) or close "
                      "descriptors",
                      what, found, ::getpid(), limit.rlim_cur)};
}

Status wait_until(int fd, short events, const Limit& limit, const std::string& peer) {
  if (limit.cancelled()) return {PURLIN_ABORTED, "called off by an abort"};
  if (limit.passed())
    return {PURLIN_TIMEOUT,
            fmt::format("{} did not answer within {} ms", peer, limit.timeout().count())};
  pollfd entry{fd, events, 0};
  if (::poll(&entry, 1, limit.slice_ms()) < 0 && errno != EINTR) return socket_error("poll");
  return {};
}

}  // namespace

Status socket_error(const std::string& what) {
  const int error = errno;
  if (error == EMFILE || error == ENFILE || error == ETOOMANYREFS)
    return descriptor_limit(what, std::strerror(error));
  return {error == ENOMEM || error == ENOBUFS ? PURLIN_OUT_OF_MEMORY : PURLIN_SYSTEM_ERROR,
          fmt::format("{} failed: {}", what, std::strerror(error))};
}

Status Channel::send(const PacketHeader& head, std::span<const std::byte> payload,
                     std::span<const int> descriptors, const Limit& limit) {
  if (payload.size() > kMessageBytes || descriptors.size() > kMessageDescriptors)
    return {PURLIN_UNSUPPORTED,
            fmt::format("a message of {} bytes and {} descriptors; at most {} and {} can be sent",
                        payload.size(), descriptors.size(), kMessageBytes, kMessageDescriptors)};
  size_t offset = 0;
  size_t sent_descriptors = 0;
  do {
    const size_t bytes = std::min(payload.size() - offset, kPacketPayload);
    const size_t count = std::min(descriptors.size() - sent_descriptors, kPacketDescriptors);
    PacketHeader packet = head;
    packet.descriptors = static_cast<uint16_t>(count);
    packet.total_bytes = static_cast<uint32_t>(payload.size());
    packet.offset = static_cast<uint32_t>(offset);
    packet.total_descriptors = static_cast<uint32_t>(descriptors.size());
    packet.payload_bytes = static_cast<uint32_t>(bytes);

    iovec parts[2] = {{&packet, sizeof packet},
                      {const_cast<std::byte*>(payload.data()) + offset, bytes}};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kPacketDescriptors)] = {};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    if (count > 0) {
      message.msg_control = control;
      message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
      cmsghdr* rights = CMSG_FIRSTHDR(&message);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN(sizeof(int) * count);
      std::memcpy(CMSG_DATA(rights), descriptors.data() + sent_descriptors, sizeof(int) * count);
    }
    if (::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
      if (errno == EINTR) continue;
      if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN)
        return {PURLIN_PEER_LOST, "closed its connection"};
      if (errno != EAGAIN) return socket_error("sending to " + peer_);
      PURLIN_RETURN_IF_ERROR(wait_until(socket_.get(), POLLOUT, limit, peer_));
      continue;
    }
    offset += bytes;
    sent_descriptors += count;
  } while (offset < payload.size() || sent_descriptors < descriptors.size());
  return {};
}

Result<bool> Channel::read_packet() {
  std::byte buffer[kPacketPayload];
  PacketHeader packet;
  iovec parts[2] = {{&packet, sizeof packet}, {buffer, sizeof buffer}};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kPacketDescriptors)];
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got = -1;
  do {
    // ECONNRESET is reported once when the peer closed with unread data; what it sent follows.
    got = ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  } while (got < 0 && (errno == EINTR || errno == ECONNRESET));
  if (got < 0 && errno == EAGAIN) return false;
  if (got < 0) return socket_error("receiving from " + peer_);
  if (got == 0) return Status(PURLIN_PEER_LOST, "closed its connection");

  std::vector<OwnedFd> descriptors;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
      descriptors.emplace_back(fd);
    }
  }
  const auto bytes = static_cast<size_t>(got);
  if (bytes < sizeof packet || packet.magic != kPacketMagic)
    return Status(PURLIN_MISMATCH, peer_ + " does not speak this protocol");
  if (packet.version != kPacketVersion)
    return Status(PURLIN_MISMATCH,
                  fmt::format("{} speaks version {} of the rendezvous, this library {}: use one "
                              "version of Purlin on all ranks",
                              peer_, packet.version, kPacketVersion));
  if ((message.msg_flags & MSG_CTRUNC) != 0 || descriptors.size() != packet.descriptors)
    return descriptor_limit(
        "receiving descriptors from " + peer_,
        fmt::format("{} of {} arrived", descriptors.size(), packet.descriptors));
  // A peer that fails in the midst of a message says so instead of its rest.
  if (packet.type == MessageType::kFailure) partial_.reset();
  const bool first = !partial_;
  if (first) {
    partial_.emplace();
    partial_->head = packet;
  }
  Message& whole = *partial_;
  if ((message.msg_flags & MSG_TRUNC) != 0 || packet.payload_bytes != bytes - sizeof packet ||
      packet.offset != whole.payload.size() || packet.total_bytes != whole.head.total_bytes ||
      packet.type != whole.head.type || packet.total_bytes > most_bytes_ ||
      packet.total_descriptors > kMessageDescriptors ||
      packet.offset + packet.payload_bytes > packet.total_bytes)
    return Status(PURLIN_MISMATCH, peer_ + " sent a packet that does not fit its message");
  if (first) whole.payload.reserve(packet.total_bytes);
  whole.payload.insert(whole.payload.end(), buffer, buffer + packet.payload_bytes);
  for (OwnedFd& fd : descriptors) whole.descriptors.push_back(std::move(fd));
  return true;
}

Result<std::optional<Message>> Channel::poll_message() {
  while (true) {
    auto read = read_packet();
    if (!read) return read.status();
    if (!*read) return std::optional<Message>();
    if (partial_->payload.size() < partial_->head.total_bytes ||
        partial_->descriptors.size() < partial_->head.total_descriptors)
      continue;
    std::optional<Message> whole = std::move(partial_);
    partial_.reset();
    return whole;
  }
}

Result<Message> Channel::receive(const Limit& limit) {
  while (true) {
    auto message = poll_message();
    if (!message) return message.status();
    if (*message) return std::move(**message);
    PURLIN_RETURN_IF_ERROR(wait_until(socket_.get(), POLLIN, limit, peer_));
  }
}

}  // namespace purlin
