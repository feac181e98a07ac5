// Bounds-checked reading of an ELF image held in memory.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace purlin::plugin {

// A view of a file's bytes. Every accessor answers "nothing" instead of reading outside.
class ElfView {
 public:
  explicit ElfView(std::span<const std::byte> file) : file_(file) {}

  uint64_t size() const { return file_.size(); }

  // True if [offset, offset + bytes) lies inside the file; no overflow.
  bool holds(uint64_t offset, uint64_t bytes) const {
    return offset <= file_.size() && bytes <= file_.size() - offset;
  }

  // A copy of the T at `offset`, which may have any alignment.
  template <class T>
  std::optional<T> read(uint64_t offset) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (!holds(offset, sizeof(T))) return std::nullopt;
    T value;
    std::memcpy(&value, file_.data() + offset, sizeof(T));
    return value;
  }

  // The NUL-terminated string at `offset`, which must end before `limit`.
  std::optional<std::string_view> text(uint64_t offset, uint64_t limit) const {
    if (limit > file_.size() || offset >= limit) return std::nullopt;
    const char* begin = reinterpret_cast<const char*>(file_.data()) + offset;
    const void* end = std::memchr(begin, 0, limit - offset);
    if (end == nullptr) return std::nullopt;
    return std::string_view(begin, static_cast<std::size_t>(static_cast<const char*>(end) - begin));
  }

 private:
  std::span<const std::byte> file_;
};

// The loadable segments, for turning addresses into file offsets.
class ElfSegments {
 public:
  void add(const Elf64_Phdr& segment) { loads_.push_back(segment); }
  bool empty() const { return loads_.empty(); }

  // File offset of [address, address + bytes), if one segment backs all of it with file content.
  std::optional<uint64_t> offset_of(uint64_t address, uint64_t bytes) const {
    for (const Elf64_Phdr& load : loads_) {
      if (address < load.p_vaddr) continue;
      const uint64_t inside = address - load.p_vaddr;
      if (inside <= load.p_filesz && bytes <= load.p_filesz - inside) return load.p_offset + inside;
    }
    return std::nullopt;
  }

 private:
  std::vector<Elf64_Phdr> loads_;
};

}  // namespace purlin::plugin
