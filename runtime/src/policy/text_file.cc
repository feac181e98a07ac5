#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "policy/quantity.h"
#include "policy/reader.h"

namespace purlin::policy {
namespace {

class File {
 public:
  // Non-blocking, so that a FIFO is refused rather than waited for.
  explicit File(const std::string& path)
      : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace

Result<std::string> read_text(const std::string& path) {
  const auto unreadable = [&](const std::string& reason) {
    return Status(PURLIN_SYSTEM_ERROR, fmt::format("{}: cannot be read: {}", path, reason));
  };
  const File file(path);
  struct stat facts {};
  if (file.descriptor() < 0 || fstat(file.descriptor(), &facts) != 0)
    return unreadable(std::strerror(errno));
  if (!S_ISREG(facts.st_mode)) return unreadable("it is no regular file; name a policy file");
  std::string text;
  char buffer[16384];
  for (;;) {
    const ssize_t got = read(file.descriptor(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable(std::strerror(errno));
    if (got == 0) return text;
    text.append(buffer, static_cast<size_t>(got));
    if (text.size() > kMaxTextBytes)
      return Status(PURLIN_POLICY_ERROR,
                    fmt::format("{}:1:1: the file is larger than {}, the most that a policy may "
                                "have; is this a policy?",
                                path, format_size(kMaxTextBytes)));
  }
}

}  // namespace purlin::policy
