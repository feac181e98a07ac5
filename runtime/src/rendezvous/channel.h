// One connection between two ranks: whole messages with descriptors.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "memory/owned_fd.h"
#include "rendezvous/limit.h"
#include "rendezvous/packet.h"
#include "status/status.h"

namespace purlin {

struct Message {
  PacketHeader head;
  std::vector<std::byte> payload;
  std::vector<OwnedFd> descriptors;
};

// Owns a connected, non-blocking SOCK_SEQPACKET socket. Not thread-safe. Never raises SIGPIPE,
// retries EINTR, receives descriptors closed on exec. A peer that closed is PURLIN_PEER_LOST with
// the bare text "closed its connection": the caller knows what was going on.
class Channel {
 public:
  Channel(OwnedFd socket, std::string peer) : socket_(std::move(socket)), peer_(std::move(peer)) {}

  int fd() const { return socket_.get(); }
  const std::string& peer() const { return peer_; }  // "rank 3 (process 4711)", for messages
  void set_peer(std::string peer) { peer_ = std::move(peer); }
  // Largest message accepted; a stranger's may be one packet only.
  void set_most_bytes(size_t bytes) { most_bytes_ = bytes; }

  // Sends all of it, waiting for room until the limit. The caller keeps the descriptors.
  Status send(const PacketHeader& head, std::span<const std::byte> payload,
              std::span<const int> descriptors, const Limit& limit);

  // What has arrived, without blocking: a message once it is whole, else nothing.
  Result<std::optional<Message>> poll_message();

  // Waits for a whole message.
  Result<Message> receive(const Limit& limit);

 private:
  Result<bool> read_packet();  // false: nothing there

  OwnedFd socket_;
  std::string peer_;
  size_t most_bytes_ = kMessageBytes;
  std::optional<Message> partial_;
};

// Message of a failed call; names RLIMIT_NOFILE when that is the cause. Reads errno.
Status socket_error(const std::string& what);

}  // namespace purlin
