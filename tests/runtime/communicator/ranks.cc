#include "ranks.h"

#include <thread>

namespace purlin::test {

Ranks::Ranks(int n, const std::string& policy, unsigned timeout_ms)
    : comms_(static_cast<size_t>(n)) {
  create(nullptr, policy, timeout_ms);
}

Ranks::Ranks(const std::vector<int>& devices, const std::string& policy, unsigned timeout_ms)
    : comms_(devices.size()) {
  create(devices.data(), policy, timeout_ms);
}

void Ranks::create(const int* devices, const std::string& policy, unsigned timeout_ms) {
  purlin_comm_options options = PURLIN_COMM_OPTIONS_INIT;
  options.timeout_ms = timeout_ms;
  if (!policy.empty()) options.policy_text = policy.c_str();
  if (purlin_comm_create_all(comms_.data(), size(), devices, &options) != PURLIN_OK)
    error_ = purlin_last_error();
}

Ranks::~Ranks() {
  for (purlin_comm_t comm : comms_)
    if (comm != nullptr) purlin_comm_destroy(comm);
}

void Ranks::each(const std::function<void(int rank)>& body) const {
  std::vector<std::thread> threads;
  for (int r = 0; r < size(); ++r) threads.emplace_back(body, r);
  for (std::thread& thread : threads) thread.join();
}

Guarded::Guarded(uint64_t bytes, uint64_t offset)
    : bytes_(bytes), offset_(offset), storage_(bytes + offset + 2 * kGuard, 0xa5) {}

bool Guarded::intact() const {
  const uint64_t begin = kGuard + offset_;
  for (uint64_t i = 0; i < storage_.size(); ++i)
    if ((i < begin || i >= begin + bytes_) && storage_[i] != 0xa5) return false;
  return true;
}

}  // namespace purlin::test
