#include "communicator/shared_table.h"

#include <span>

#include "rendezvous/records.h"

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

Result<std::shared_ptr<SharedMemory>> share_mapping(const std::string& name, uint64_t bytes,
                                                    Rendezvous& rendezvous) {
  auto table = share_table(name, bytes, rendezvous);
  if (!table) return table.status();
  auto mine = std::make_shared<SharedMemory>(std::move(*table));
  // Valid in this process, and until all ranks have passed the barrier.
  auto all = gather_records(&mine, "shared memory", rendezvous);
  if (!all) return all.status();
  int first = 0;
  while (!rendezvous.same_process(first)) ++first;
  const std::shared_ptr<SharedMemory> shared = *(*all)[static_cast<size_t>(first)];
  PURLIN_RETURN_IF_ERROR(rendezvous.barrier());
  if (first == rendezvous.rank()) shared->populate();
  return shared;
}

}  // namespace purlin
