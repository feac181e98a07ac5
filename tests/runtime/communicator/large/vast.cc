#include "runtime/communicator/large/vast.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace purlin::test {
namespace {

constexpr uint64_t kWindow = 64 * 1024;
// No power of two, so that what lands 2^31 or 2^32 bytes off lands on other contents.
constexpr uint64_t kFile = 3 * 1024 * 1024;
constexpr unsigned char kPoison = 0x5a;

std::vector<unsigned char> pattern_of(uint64_t phase, unsigned times) {
  std::vector<unsigned char> pattern(kFile);
  for (uint64_t x = 0; x < kFile; ++x)
    pattern[x] = static_cast<unsigned char>(Vast::content(x, phase) * times);
  return pattern;
}

}  // namespace

unsigned char Vast::content(uint64_t offset, uint64_t phase) {
  const uint64_t x = (offset + phase) % kFile;
  return static_cast<unsigned char>((x >> 12) * 37 + x * 5 + 1);
}

Vast::Vast(uint64_t bytes, bool real)
    : bytes_(bytes), span_((bytes + kFile - 1) / kFile * kFile), real_(real) {
  void* base = ::mmap(nullptr, span_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return;
  auto* const begin = static_cast<unsigned char*>(base);
  if (!real) {
    const int file = ::memfd_create("vast", 0);
    bool good = file >= 0 && ::ftruncate(file, kFile) == 0;
    for (uint64_t at = 0; good && at < span_; at += kFile)
      good = ::mmap(begin + at, kFile, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) !=
             MAP_FAILED;
    for (const uint64_t middle : {uint64_t{0}, uint64_t{1} << 31, uint64_t{1} << 32, bytes}) {
      const uint64_t first = middle < kWindow ? 0 : (middle - kWindow) / kWindow * kWindow;
      const uint64_t last = std::min(span_, first + 3 * kWindow);
      if (first >= last) continue;
      good = good && ::mmap(begin + first, last - first, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
      windows_.push_back({first, std::min(bytes, last)});
    }
    if (file >= 0) ::close(file);
    if (!good) {
      ::munmap(base, span_);
      return;
    }
    windows_.push_back({kFile, std::min(bytes, 2 * kFile)});  // the file, where no window covers it
  } else {
    windows_.push_back({0, bytes});
  }
  data_ = begin;
}

Vast::~Vast() {
  if (data_ != nullptr) ::munmap(data_, span_);
}

template <class Do>
void Vast::each_piece(const std::vector<unsigned char>& pattern, Do act) const {
  for (const Range& range : windows_)
    for (uint64_t x = range.begin; x < range.end;) {
      const uint64_t bytes = std::min(range.end - x, kFile - x % kFile);
      if (!act(x, pattern.data() + x % kFile, bytes)) return;
      x += bytes;
    }
}

void Vast::fill(uint64_t phase) {
  each_piece(pattern_of(phase, 1), [&](uint64_t x, const unsigned char* from, uint64_t bytes) {
    std::memcpy(data_ + x, from, bytes);
    return true;
  });
}

void Vast::poison() {
  for (const Range& range : windows_)
    std::memset(data_ + range.begin, kPoison, range.end - range.begin);
}

uint64_t Vast::first_wrong(uint64_t phase, unsigned times) const {
  uint64_t wrong = bytes_;
  each_piece(pattern_of(phase, times), [&](uint64_t x, const unsigned char* want, uint64_t bytes) {
    if (std::memcmp(data_ + x, want, bytes) == 0) return true;
    wrong = x + static_cast<uint64_t>(std::mismatch(want, want + bytes, data_ + x).first - want);
    return false;
  });
  return wrong;
}

}  // namespace purlin::test
