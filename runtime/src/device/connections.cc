#include "device/connections.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <string>

namespace purlin {
namespace {

constexpr const char* kVariable = "CUDA_DEVICE_MAX_CONNECTIONS";
std::atomic<bool> raised_here = false;

struct InForce {
  unsigned queues;
  std::string source;
};

InForce in_force(bool driver_was_running) {
  const char* text = std::getenv(kVariable);
  if (text == nullptr || *text == '\0') return {kDefaultConnections, "the driver's default"};
  if (raised_here && driver_was_running) {
    return {
        kDefaultConnections,
        "the driver's default, since the application had started the driver before Purlin could "
        "raise it"};
  }
  const long value = std::strtol(text, nullptr, 10);
  const long most = kMostConnections;
  return {static_cast<unsigned>(value < 1 ? 1 : (value > most ? most : value)),
          fmt::format("{}={}", kVariable, text)};
}

}  // namespace

void raise_connections(unsigned local_ranks) {
  if (local_ranks <= 1 || std::getenv(kVariable) != nullptr) return;
  if (setenv(kVariable, std::to_string(kMostConnections).c_str(), 0) == 0) raised_here = true;
}

Status check_connections(unsigned local_ranks, bool driver_was_running) {
  const InForce found = in_force(driver_was_running);
  if (local_ranks <= 1 || local_ranks <= found.queues) return {};
  return {PURLIN_UNSUPPORTED,
          fmt::format(
              "{} ranks of this process share a GPU and need a hardware queue each, and there "
              "are {} ({}). Set {}={} before the process's first CUDA call, or put at most {} "
              "ranks on the GPU",
              local_ranks, found.queues, found.source, kVariable, kMostConnections, found.queues)};
}

}  // namespace purlin
