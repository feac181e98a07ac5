#include "plugin/file_content.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace purlin::plugin {
namespace {

class OpenedFile {
 public:
  // O_NONBLOCK: a pipe that takes the file's place between two looks must not stop the process.
  explicit OpenedFile(const std::filesystem::path& path)
      : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) {}
  ~OpenedFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  OpenedFile(const OpenedFile&) = delete;
  OpenedFile& operator=(const OpenedFile&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

Verdict unreadable(const char* call, const std::filesystem::path& path) {
  return refuse("file-unreadable",
                fmt::format("{} {}: {}", call, path.string(), std::strerror(errno)),
                "let this user read the file");
}

}  // namespace

Verdict read_content(const std::filesystem::path& path, FileContent* out) {
  const OpenedFile file(path);
  if (file.descriptor() < 0) return unreadable("open", path);
  if (fstat(file.descriptor(), &out->status) != 0) return unreadable("fstat", path);
  if (!S_ISREG(out->status.st_mode)) {
    return refuse("not-a-file", fmt::format("{} is not a regular file", path.string()),
                  "put the plugin's file itself, or a link to it, into the folder");
  }
  if (static_cast<uint64_t>(out->status.st_size) > kLargestPlugin) {
    return refuse("too-large",
                  fmt::format("{} has {} bytes, a plugin at most {}", path.string(),
                              out->status.st_size, kLargestPlugin),
                  "strip debugging data from the plugin");
  }
  out->bytes.resize(static_cast<std::size_t>(out->status.st_size));
  std::size_t have = 0;
  while (have < out->bytes.size()) {
    const ssize_t got = read(file.descriptor(), out->bytes.data() + have, out->bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable("read", path);
    if (got == 0) break;  // it shrank: what is left is judged, and found truncated
    have += static_cast<std::size_t>(got);
  }
  out->bytes.resize(have);
  return accept("accepted");
}

}  // namespace purlin::plugin
