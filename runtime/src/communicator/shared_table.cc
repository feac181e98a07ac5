#include "communicator/shared_table.h"

#include <span>

namespace purlin {
namespace {

Result<SharedMemory> hand_out(const std::string& name, uint64_t bytes, Rendezvous& rendezvous) {
  if (rendezvous.rank() != 0) {
    PURLIN_RETURN_IF_ERROR(rendezvous.agree(Status::ok()));
    auto fds = rendezvous.broadcast_fds(0, {});
    if (!fds) return fds.status();
    return SharedMemory::adopt(std::move((*fds)[0]), bytes);
  }
  auto memory = SharedMemory::create(name, bytes);
  PURLIN_RETURN_IF_ERROR(rendezvous.agree(memory.status()));
  if (!memory) return memory.status();
  const int fd = memory->fd();
  auto fds = rendezvous.broadcast_fds(0, std::span<const int>(&fd, 1));
  if (!fds) return fds.status();
  return std::move(*memory);
}

}  // namespace

Result<SharedMemory> share_table(const std::string& name, uint64_t bytes, Rendezvous& rendezvous) {
  auto memory = hand_out(name, bytes, rendezvous);
  PURLIN_RETURN_IF_ERROR(rendezvous.agree(memory.status()));
  if (!memory) return memory.status();
  memory->close_fd();
  return std::move(*memory);
}

}  // namespace purlin
