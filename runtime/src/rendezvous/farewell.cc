#include "rendezvous/farewell.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include "rendezvous/door.h"

namespace purlin {
namespace {

constexpr auto kFarewell = std::chrono::milliseconds(2000);
// A newcomer says hello right after it knocked.
constexpr auto kHello = std::chrono::milliseconds(100);

// The rank that a newcomer claims; -1 when it does not say. Its token is not asked: it is told an
// error text, nothing more.
int claimed_rank(Channel& channel, int nranks) {
  channel.set_most_bytes(kMostHelloBytes);
  auto message = channel.receive(Limit(kHello, nullptr));
  if (!message) return -1;
  const auto hello = read_hello(std::move(message).value());
  return hello && hello->rank >= 0 && hello->rank < nranks ? hello->rank : -1;
}

}  // namespace

void bid_farewell(const OwnedFd& door, std::vector<std::unique_ptr<Channel>> newcomers,
                  const MeetingRequest& request, const Failure& failure, std::vector<bool> told) {
  // False: a rank that knew already.
  const auto inform = [&](Channel& channel) {
    const int rank = claimed_rank(channel, request.nranks);
    if (rank >= 0 && told[static_cast<size_t>(rank)]) return false;
    if (rank >= 0) told[static_cast<size_t>(rank)] = true;
    tell(channel, request.rank, failure);
    return true;
  };
  for (auto& channel : newcomers)
    if (!inform(*channel)) return;
  newcomers.clear();
  if (failure.status.code() == PURLIN_TIMEOUT) return;

  const Limit farewell(kFarewell, nullptr);
  while (std::find(told.begin(), told.end(), false) != told.end() && !farewell.passed() &&
         !request.limit.passed() && !request.limit.cancelled()) {
    pollfd polled{door.get(), POLLIN, 0};
    (void)::poll(&polled, 1, farewell.slice_ms());
    auto socket = admit(door);
    if (!socket || !*socket) continue;
    const auto user = other_end(*socket);
    if (!user || user->uid != ::geteuid()) continue;
    Channel channel(std::move(socket).value(), fmt::format("process {}", user->pid));
    if (!inform(channel)) return;
  }
}

}  // namespace purlin
