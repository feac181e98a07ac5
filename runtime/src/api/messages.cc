// purlin_send and purlin_recv.
#include <fmt/format.h>

#include "api/group.h"
#include "status/last_error.h"

namespace purlin {
namespace {

Status issue(const Message& message, purlin_comm_t comm) {
  auto handle = ready_handle(comm);
  if (!handle) return handle.status();
  if (in_group()) return add_to_group(std::move(*handle), message);
  Communicator& communicator = *(*handle)->communicator;
  const Status checked = check_message(message, communicator.size());
  if (!checked.is_ok()) {
    communicator.refuse();
    return checked.with_context(fmt::format("{} on rank {} of communicator {}",
                                            message.sends ? "send" : "receive", communicator.rank(),
                                            communicator.name()));
  }
  return communicator.run(std::span(&message, 1), {});
}

}  // namespace
}  // namespace purlin

extern "C" purlin_status purlin_send(const void* send, uint64_t count, purlin_dtype dtype, int peer,
                                     purlin_comm_t comm, purlin_stream_t stream) {
  // Sends are only read.
  return purlin::remember(
      purlin::issue({true, const_cast<void*>(send), count, dtype, peer, stream}, comm));
}

extern "C" purlin_status purlin_recv(void* recv, uint64_t count, purlin_dtype dtype, int peer,
                                     purlin_comm_t comm, purlin_stream_t stream) {
  return purlin::remember(purlin::issue({false, recv, count, dtype, peer, stream}, comm));
}
