// Reading what a plugin's descriptor points to without trusting its pointers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "plugin/shared_object.h"

namespace purlin::plugin {

class PluginMemory {
 public:
  explicit PluginMemory(std::vector<MemorySpan> spans) : spans_(std::move(spans)) {}

  // True if [at, at + bytes) lies inside one of the plugin's spans.
  bool holds(const void* at, uint64_t bytes) const { return room(at) >= bytes && at != nullptr; }

  // True if `function` points into the plugin's code.
  template <class Function>
  bool holds_function(Function* function) const {
    const auto address = reinterpret_cast<uintptr_t>(function);
    return std::any_of(spans_.begin(), spans_.end(), [&](const MemorySpan& span) {
      const auto begin = reinterpret_cast<uintptr_t>(span.begin);
      return span.executable && address >= begin && address - begin < span.size;
    });
  }

  // True if a T may be read at `at` through a T pointer, of at least `bytes` bytes.
  template <class T>
  bool holds_struct(const T* at, uint64_t bytes) const {
    return reinterpret_cast<uintptr_t>(at) % alignof(T) == 0 && holds(at, bytes);
  }

  // The NUL-terminated text at `at`, if it ends within `limit` bytes inside the plugin.
  std::optional<std::string_view> text(const char* at, uint64_t limit) const {
    const uint64_t bytes = std::min(room(at), limit);
    const void* end = bytes == 0 ? nullptr : std::memchr(at, 0, bytes);
    if (end == nullptr) return std::nullopt;
    return std::string_view(at, static_cast<std::size_t>(static_cast<const char*>(end) - at));
  }

 private:
  // Bytes from `at` to the end of the span that holds it, 0 if none does.
  uint64_t room(const void* at) const {
    const auto address = reinterpret_cast<uintptr_t>(at);
    for (const MemorySpan& span : spans_) {
      const auto begin = reinterpret_cast<uintptr_t>(span.begin);
      if (address >= begin && address - begin < span.size) return span.size - (address - begin);
    }
    return 0;
  }

  std::vector<MemorySpan> spans_;
};

}  // namespace purlin::plugin
