#include "program/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace purlin {
namespace {

constexpr off_t kLargestFile = off_t{256} << 20;

Status system_error(const char* call, const std::string& path) {
  const int error = errno;
  return Status(PURLIN_SYSTEM_ERROR, fmt::format("{} of {}: {}", call, path, strerror(error)));
}

// Closes on leaving unless released.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

Status check_owner(const struct stat& facts, const std::string& path, Trust trust) {
  const uid_t own = geteuid();
  const bool trusted = facts.st_uid == own || (trust == Trust::kOwnOrRoot && facts.st_uid == 0);
  if (!trusted)
    return Status(
        PURLIN_LINK_ERROR,
        fmt::format("{} belongs to user {}, this process runs as user {}: programs of others "
                    "are not run; use a folder of your own",
                    path, facts.st_uid, own));
  if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return Status(PURLIN_LINK_ERROR,
                  fmt::format("{} has mode {:04o}, so others may put programs there: chmod go-w {}",
                              path, facts.st_mode & 07777, path));
  return {};
}

Status make_folders(const std::string& path, unsigned mode) {
  for (size_t at = 1; at <= path.size(); ++at) {
    if (at != path.size() && path[at] != '/') continue;
    const std::string part = path.substr(0, at);
    if (mkdir(part.c_str(), mode) != 0 && errno != EEXIST) return system_error("mkdir", part);
  }
  return {};
}

}  // namespace

Result<ProgramFolder> ProgramFolder::open(const std::string& path, Trust trust) {
  const int follow = trust == Trust::kOwn ? O_NOFOLLOW : 0;
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | follow));
  if (fd.get() < 0) return system_error("open", path);
  struct stat facts;
  if (fstat(fd.get(), &facts) != 0) return system_error("fstat", path);
  PURLIN_RETURN_IF_ERROR(check_owner(facts, path, trust));
  return ProgramFolder(path, fd.release(), trust);
}

Result<ProgramFolder> ProgramFolder::create(const std::string& path, Trust trust, unsigned mode) {
  if (path.empty() || path[0] != '/')
    return Status(PURLIN_INVALID_ARGUMENT,
                  fmt::format("program folder '{}' is not an absolute path; give one", path));
  PURLIN_RETURN_IF_ERROR(make_folders(path, mode));
  return open(path, trust);
}

ProgramFolder::ProgramFolder(ProgramFolder&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      trust_(other.trust_) {}

ProgramFolder& ProgramFolder::operator=(ProgramFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(trust_, other.trust_);
  return *this;
}

ProgramFolder::~ProgramFolder() {
  if (descriptor_ >= 0) close(descriptor_);
}

Result<std::vector<std::string>> ProgramFolder::names() const {
  // A descriptor of its own: reading a folder moves the position that duplicates share.
  Descriptor fd(openat(descriptor_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0) return system_error("open", path_);
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(fdopendir(fd.get()), closedir);
  if (folder == nullptr) return system_error("fdopendir", path_);
  fd.release();
  std::vector<std::string> out;
  for (;;) {
    errno = 0;
    const dirent* entry = readdir(folder.get());
    if (entry == nullptr) break;
    out.push_back(entry->d_name);
  }
  if (errno != 0) return system_error("readdir", path_);
  std::sort(out.begin(), out.end());
  return out;
}

Result<ProgramFolder::Contents> ProgramFolder::read(const std::string& name) const {
  const std::string path = path_ + "/" + name;
  Descriptor fd(openat(descriptor_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (fd.get() < 0 && errno == ENOENT) return Contents{};
  if (fd.get() < 0) return system_error("open", path);
  struct stat facts;
  if (fstat(fd.get(), &facts) != 0) return system_error("fstat", path);
  if (!S_ISREG(facts.st_mode) || facts.st_size > kLargestFile)
    return Status(PURLIN_LINK_ERROR,
                  fmt::format("{} is no regular file of at most 256 MiB; remove it", path));
  PURLIN_RETURN_IF_ERROR(check_owner(facts, path, trust_));
  Contents out;
  out.found = true;
  out.bytes.resize(static_cast<size_t>(facts.st_size));
  size_t have = 0;
  while (have < out.bytes.size()) {
    const ssize_t got = ::read(fd.get(), out.bytes.data() + have, out.bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read", path);
    if (got == 0) break;
    have += static_cast<size_t>(got);
  }
  out.bytes.resize(have);
  return out;
}

Status ProgramFolder::write(const std::string& name, std::span<const std::byte> bytes,
                            unsigned mode) const {
  static std::atomic<unsigned> counter = 0;
  const std::string temporary = fmt::format(".{}.{}.tmp", getpid(), counter++);
  const std::string path = path_ + "/" + name;
  struct Remove {
    int folder;
    const std::string& name;
    bool armed = false;
    ~Remove() {
      if (armed) unlinkat(folder, name.c_str(), 0);
    }
  } remove{descriptor_, temporary};
  Descriptor fd(openat(descriptor_, temporary.c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (fd.get() < 0) return system_error("open for writing", path_ + "/" + temporary);
  remove.armed = true;
  if (fchmod(fd.get(), mode) != 0) return system_error("fchmod", path);
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put = ::write(fd.get(), bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return system_error("write", path);
    done += static_cast<size_t>(put);
  }
  if (fsync(fd.get()) != 0) return system_error("fsync", path);
  if (renameat(descriptor_, temporary.c_str(), descriptor_, name.c_str()) != 0)
    return system_error("rename", path);
  remove.armed = false;
  return {};
}

}  // namespace purlin
