// Ranks as threads over the public API, and what their buffers must hold afterwards.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "purlin/purlin.h"

namespace purlin::test {

// n communicators of one group, host ranks unless said otherwise; destroyed with it. `policy` is a policy's text or empty.
class Ranks {
 public:
  explicit Ranks(int n, const std::string& policy = {}, unsigned timeout_ms = 30'000);
  // On GPUs of these ordinals, a rank each.
  Ranks(const std::vector<int>& devices, const std::string& policy, unsigned timeout_ms);
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int size() const { return static_cast<int>(comms_.size()); }
  purlin_comm_t comm(int rank) const { return comms_[static_cast<size_t>(rank)]; }
  const std::string& creation_error() const { return error_; }

  // Runs `body(rank)` on a thread for each rank and joins them.
  void each(const std::function<void(int rank)>& body) const;

 private:
  void create(const int* devices, const std::string& policy, unsigned timeout_ms);

  std::vector<purlin_comm_t> comms_;
  std::string error_;
};

// Bytes between two guard zones of 4 KiB; `offset` shifts the first byte off its alignment.
class Guarded {
 public:
  Guarded(uint64_t bytes, uint64_t offset);
  unsigned char* data() { return storage_.data() + kGuard + offset_; }
  const unsigned char* data() const { return storage_.data() + kGuard + offset_; }
  bool intact() const;
  // Everything, guard zones included.
  std::span<unsigned char> storage() { return storage_; }

 private:
  static constexpr uint64_t kGuard = 4096;
  uint64_t bytes_, offset_;
  std::vector<unsigned char> storage_;
};

}  // namespace purlin::test
