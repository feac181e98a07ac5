#include "memory/shared_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "memory/available_memory.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace purlin {
namespace {

uint64_t whole_pages(uint64_t bytes) {
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

Status system_error(const std::string& name, uint64_t bytes, const char* call) {
  const int error = errno;
  if (error == EMFILE || error == ENFILE) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return {
        PURLIN_SYSTEM_ERROR,
        fmt::format("shared memory '{}': {} found no free descriptor ({}; RLIMIT_NOFILE is {}); "
                    "raise the limit (ulimit -n) or close descriptors",
                    name, call, std::strerror(error), limit.rlim_cur)};
  }
  const bool full = error == ENOSPC || error == ENOMEM || error == EFBIG;
  const AvailableMemory available = available_memory();
  return {full ? PURLIN_OUT_OF_MEMORY : PURLIN_SYSTEM_ERROR,
          fmt::format("shared memory '{}' of {} bytes: {} failed: {}; {} bytes are available by {}",
                      name, bytes, call, std::strerror(error), available.bytes,
                      available.limited_by.empty() ? "no limit known" : available.limited_by)};
}

// Refuses what the kernel would answer with a signal or with the out-of-memory killer.
Status check_limits(const std::string& name, uint64_t bytes) {
  rlimit file{};
  if (::getrlimit(RLIMIT_FSIZE, &file) == 0 && file.rlim_cur != RLIM_INFINITY &&
      bytes > file.rlim_cur)
    return {PURLIN_OUT_OF_MEMORY,
            fmt::format("shared memory '{}' needs {} bytes, but RLIMIT_FSIZE allows {}; raise it "
                        "(ulimit -f unlimited) or ask for less staging in the policy",
                        name, bytes, file.rlim_cur)};
  const AvailableMemory available = available_memory();
  if (bytes > available.bytes)
    return {PURLIN_OUT_OF_MEMORY,
            fmt::format("shared memory '{}' needs {} bytes, but only {} are available by {}; free "
                        "memory, raise that limit, or ask for less staging in the policy",
                        name, bytes, available.bytes, available.limited_by)};
  return {};
}

int make_memory_file(const std::string& name) {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  const int fd = ::memfd_create(name.c_str(), kFlags | MFD_NOEXEC_SEAL);
  if (fd >= 0 || errno != EINVAL) return fd;
  return ::memfd_create(name.c_str(), kFlags);  // kernels before 6.3 do not know the flag
}

}  // namespace

SharedMemory::SharedMemory(OwnedFd fd, std::byte* data, uint64_t bytes)
    : fd_(std::move(fd)), data_(data), bytes_(bytes) {}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : fd_(std::move(other.fd_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  if (this != &other) {
    unmap();
    fd_ = std::move(other.fd_);
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

SharedMemory::~SharedMemory() { unmap(); }

void SharedMemory::unmap() {
  if (data_) ::munmap(data_, whole_pages(bytes_));
}

Result<SharedMemory> SharedMemory::create(const std::string& name, uint64_t bytes) {
  if (bytes == 0 || bytes > static_cast<uint64_t>(std::numeric_limits<off_t>::max()) / 2)
    return Status(PURLIN_INVALID_ARGUMENT,
                  fmt::format("shared memory '{}': {} bytes is no possible size", name, bytes));
  const uint64_t length = whole_pages(bytes);
  PURLIN_RETURN_IF_ERROR(check_limits(name, length));
  OwnedFd fd(make_memory_file(name));
  if (!fd) return system_error(name, bytes, "memfd_create");
  // fallocate reserves every page now; ftruncate alone would let a later access fault.
  int failed = -1;
  do {
    failed = ::fallocate(fd.get(), 0, 0, static_cast<off_t>(length));
  } while (failed != 0 && errno == EINTR);
  if (failed != 0) return system_error(name, bytes, "fallocate");
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return system_error(name, bytes, "fcntl(F_ADD_SEALS)");
  return map(std::move(fd), bytes, name);
}

Result<SharedMemory> SharedMemory::adopt(OwnedFd fd, uint64_t bytes) {
  struct stat facts {};
  if (::fstat(fd.get(), &facts) != 0) return system_error("of a peer", bytes, "fstat");
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  if (bytes == 0 || static_cast<uint64_t>(facts.st_size) != whole_pages(bytes))
    return Status(PURLIN_MISMATCH,
                  fmt::format("shared memory of a peer has {} bytes where {} were announced",
                              facts.st_size, bytes));
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
    return Status(PURLIN_MISMATCH,
                  "shared memory of a peer is not sealed against shrinking: it was "
                  "not made by this library");
  if (static_cast<uint64_t>(facts.st_blocks) * 512 < whole_pages(bytes))
    return Status(
        PURLIN_MISMATCH,
        fmt::format("shared memory of a peer has {} of {} bytes reserved: it was not made "
                    "by this library",
                    facts.st_blocks * 512, whole_pages(bytes)));
  return map(std::move(fd), bytes, "of a peer");
}

Result<SharedMemory> SharedMemory::map(OwnedFd fd, uint64_t bytes, const std::string& name) {
  void* data = ::mmap(nullptr, whole_pages(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (data == MAP_FAILED) return system_error(name, bytes, "mmap (RLIMIT_AS is one cause)");
  return SharedMemory(std::move(fd), static_cast<std::byte*>(data), bytes);
}

void SharedMemory::populate() {
#ifdef MADV_POPULATE_WRITE
  (void)::madvise(data_, whole_pages(bytes_), MADV_POPULATE_WRITE);
#else
  (void)::madvise(data_, whole_pages(bytes_), MADV_WILLNEED);
#endif
}

}  // namespace purlin
