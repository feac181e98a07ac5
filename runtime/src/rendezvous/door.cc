#include "rendezvous/door.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "rendezvous/channel.h"

namespace purlin {
namespace {

constexpr int kBacklog = 256;

struct AbstractName {
  sockaddr_un address{};
  socklen_t length = 0;
};

Result<AbstractName> abstract_name(const std::string& name) {
  AbstractName out;
  if (name.empty() || name.size() + 1 > sizeof out.address.sun_path)
    return Status(PURLIN_INTERNAL, fmt::format("socket name '{}' is empty or too long", name));
  out.address.sun_family = AF_UNIX;
  std::memcpy(out.address.sun_path + 1, name.data(), name.size());
  out.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return out;
}

Result<OwnedFd> make_socket() {
  OwnedFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return socket_error("making a socket for the rendezvous");
  return socket;
}

}  // namespace

Result<OwnedFd> open_door(const std::string& name) {
  const auto address = abstract_name(name);
  if (!address) return address.status();
  auto socket = make_socket();
  if (!socket) return socket;
  const auto* raw = reinterpret_cast<const sockaddr*>(&address->address);
  if (::bind(socket->get(), raw, address->length) != 0) {
    if (errno == EADDRINUSE) return OwnedFd();
    return socket_error("binding the abstract socket '" + name + "'");
  }
  if (::listen(socket->get(), kBacklog) != 0)
    return socket_error("listening on the abstract socket '" + name + "'");
  return socket;
}

Result<OwnedFd> knock(const std::string& name) {
  const auto address = abstract_name(name);
  if (!address) return address.status();
  auto socket = make_socket();
  if (!socket) return socket;
  const auto* raw = reinterpret_cast<const sockaddr*>(&address->address);
  if (::connect(socket->get(), raw, address->length) == 0) return socket;
  // Not listening yet, just closed, or more newcomers than the backlog holds.
  if (errno == ECONNREFUSED || errno == EAGAIN || errno == EINTR) return OwnedFd();
  return socket_error("connecting to the abstract socket '" + name + "'");
}

Result<OwnedFd> admit(const OwnedFd& door) {
  OwnedFd socket(::accept4(door.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket || errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return socket;
  return socket_error("accepting a rank at the rendezvous");
}

Result<SocketUser> other_end(const OwnedFd& socket) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0)
    return socket_error("asking who is at the other end of the rendezvous (SO_PEERCRED)");
  return SocketUser{credentials.pid, credentials.uid};
}

}  // namespace purlin
