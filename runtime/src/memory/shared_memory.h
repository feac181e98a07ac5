// Memory that ranks share by passing a descriptor: sealed, reserved when made, nameless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "memory/owned_fd.h"
#include "status/status.h"

namespace purlin {

// A memory file and its mapping. It lies in no file system, so the size of /dev/shm is no matter
// and nothing is left behind. Every page is reserved by `create`: later accesses never fault for
// lack of space. The size is sealed, so no holder of the descriptor can make an access of another
// fault. Movable; the mapping's address survives a move. Not thread-safe beyond plain access to the
// bytes.
class SharedMemory {
 public:
  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  // `bytes` (> 0, rounded up to whole pages for the file) of zeroes, mapped for reading and
  // writing. `name` shows in /proc/PID/maps and in messages: printable, at most 200 bytes.
  // PURLIN_OUT_OF_MEMORY names the bytes asked, the bytes available and what limits them (machine,
  // memory group, RLIMIT_FSIZE, RLIMIT_AS); PURLIN_SYSTEM_ERROR names the call that failed.
  static Result<SharedMemory> create(const std::string& name, uint64_t bytes);

  // Maps what a peer made. Refuses (PURLIN_MISMATCH) a file that is not exactly as long as `create`
  // would have made it for `bytes`, whose size is not sealed, or whose pages are not reserved.
  static Result<SharedMemory> adopt(OwnedFd fd, uint64_t bytes);

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  uint64_t size() const { return bytes_; }  // as asked
  std::span<std::byte> bytes() { return {data_, bytes_}; }
  int fd() const { return fd_.get(); }
  // The mapping stays; call once all peers hold the memory, to save descriptors.
  void close_fd() { fd_.reset(); }
  OwnedFd take_fd() { return std::move(fd_); }
  explicit operator bool() const { return data_ != nullptr; }

  // Fills the page table now, so that first accesses take no page faults. Never fails: what cannot
  // be filled early is filled by the access itself.
  void populate();

 private:
  SharedMemory(OwnedFd fd, std::byte* data, uint64_t bytes);
  static Result<SharedMemory> map(OwnedFd fd, uint64_t bytes, const std::string& name);
  void unmap();

  OwnedFd fd_;
  std::byte* data_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace purlin
