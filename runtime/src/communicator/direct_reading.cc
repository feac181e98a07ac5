#include "communicator/direct_reading.h"

#include <fmt/format.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "rendezvous/token.h"

namespace purlin {
namespace {

// Where a rank's word lies, and what it is.
struct Secret {
  uint64_t address = 0;
  uint64_t word = 0;
};

std::string text_of(const Blob& blob) {
  return std::string(reinterpret_cast<const char*>(blob.data()), blob.size());
}

}  // namespace

DirectReading DirectReading::none(std::string reason) {
  DirectReading reading;
  reading.obstacle_ = std::move(reason);
  return reading;
}

int DirectReading::read(uint32_t peer, void* to, uint64_t address, uint64_t bytes) const {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const iovec local{at, bytes};
    const iovec remote{reinterpret_cast<void*>(address), bytes};
    const ssize_t got = ::process_vm_readv(processes_[peer], &local, 1, &remote, 1, 0);
    if (got < 0) return errno;
    if (got == 0) return EFAULT;
    at += got;
    address += static_cast<uint64_t>(got);
    bytes -= static_cast<uint64_t>(got);
  }
  return 0;
}

Result<DirectReading> DirectReading::try_out(Rendezvous& rendezvous) {
  DirectReading reading;
  for (int r = 0; r < rendezvous.size(); ++r)
    reading.processes_[static_cast<size_t>(r)] = rendezvous.process_of(r);
  const auto word = std::make_unique<uint64_t>();
  // A process number may mean another process here: only the right word proves anything.
  PURLIN_RETURN_IF_ERROR(
      rendezvous.agree(fill_random(std::as_writable_bytes(std::span(word.get(), 1)))));
  const Secret mine{reinterpret_cast<uint64_t>(word.get()), *word};
  auto secrets = rendezvous.all_gather_blob(std::as_bytes(std::span(&mine, 1)));
  if (!secrets) return secrets.status();
  std::string obstacle;
  for (int r = 0; r < rendezvous.size() && obstacle.empty(); ++r) {
    Secret theirs;
    std::memcpy(&theirs, (*secrets)[static_cast<size_t>(r)].data(), sizeof theirs);
    uint64_t found = 0;
    const int error = reading.read(static_cast<uint32_t>(r), &found, theirs.address, sizeof found);
    if (error != 0 || found != theirs.word)
      obstacle = fmt::format("rank {} cannot read the memory of rank {}: {}", rendezvous.rank(), r,
                             error != 0 ? std::strerror(error)
                                        : "its process has another number there, or is not seen");
  }
  // All words stay where they are until everybody has tried.
  auto verdicts = rendezvous.all_gather_blob(std::as_bytes(std::span(obstacle)));
  if (!verdicts) return verdicts.status();
  for (const Blob& blob : *verdicts)
    if (reading.obstacle_.empty()) reading.obstacle_ = text_of(blob);
  return reading;
}

}  // namespace purlin
