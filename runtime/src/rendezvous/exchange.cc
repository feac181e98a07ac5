#include "rendezvous/exchange.h"

#include <fmt/format.h>
#include <poll.h>

#include <cerrno>
#include <cstring>

#include "rendezvous/failure.h"

namespace purlin {
namespace {

// Precedes the bytes of each rank in a result.
struct Portion {
  uint32_t bytes;
  uint32_t descriptors;
};

const char* name_of(ExchangeKind kind) {
  switch (kind) {
    case ExchangeKind::kNone:
      return "none";
    case ExchangeKind::kBarrier:
      return "barrier";
    case ExchangeKind::kBlobs:
      return "exchange of blobs";
    case ExchangeKind::kDescriptors:
      return "exchange of descriptors";
    case ExchangeKind::kBroadcastDescriptors:
      return "broadcast of descriptors";
    case ExchangeKind::kAgreement:
      return "agreement";
  }
  return "unknown exchange";
}

// How one side of an exchange looks at the other.
class Side {
 public:
  Side(Circle& circle, const ExchangeRequest& request, const LivenessRecord& record)
      : circle_(circle), request_(request), record_(record), own_(record.roster().rank) {}

 protected:
  Channel& channel(int rank) const { return *circle_.channels[static_cast<size_t>(rank)]; }
  std::string describe(int rank) const { return record_.roster().describe(rank); }
  std::string what() const {
    return fmt::format("{} {}", name_of(request_.kind), request_.sequence);
  }
  Failure gone(int rank) const {
    const char* how = record_.control().state(rank) == PeerState::kLeft
                          ? "has destroyed the communicator"
                          : "is gone: its process ended or its rank gave up";
    return {
        Status(PURLIN_PEER_LOST, fmt::format("{} {} (seen in {})", describe(rank), how, what())),
        rank};
  }
  // Failure of an operation on `rank`'s channel: the peer's, or a limit of this process.
  Failure failed(int rank, const Status& status) const {
    if (status.code() == PURLIN_PEER_LOST) return gone(rank);
    if (status.code() == PURLIN_MISMATCH || status.code() == PURLIN_TIMEOUT)
      return {status.with_context(what()), rank};
    return {status.with_context(describe(own_) + " in " + what()), own_};
  }
  // A message that is not what this exchange needs, or ok.
  Failure check(int rank, const Message& message, MessageType type) const {
    if (message.head.type == MessageType::kFailure) return decode_failure(message.payload);
    if (message.head.type == type && message.head.exchange == request_.kind &&
        message.head.sequence == request_.sequence)
      return {};
    return {Status(PURLIN_MISMATCH,
                   fmt::format("{} is in {} {}, {} in {}: the ranks make different calls",
                               describe(rank), name_of(message.head.exchange),
                               message.head.sequence, describe(own_), what())),
            rank};
  }
  PacketHeader head(MessageType type) const {
    PacketHeader head;
    head.type = type;
    head.exchange = request_.kind;
    head.sender = own_;
    head.sequence = request_.sequence;
    head.deadline = request_.limit.deadline();
    return head;
  }

  Circle& circle_;
  const ExchangeRequest& request_;
  const LivenessRecord& record_;
  const int own_;
};

class HubSide : Side {
 public:
  using Side::Side;

  Result<std::vector<Contribution>> run() {
    Failure failure = collect();
    if (failure.status) failure = distribute();
    if (failure.status) return std::move(given_);
    for (const auto& channel : circle_.channels)
      if (channel) tell(*channel, own_, failure);
    return failure.status;
  }

 private:
  Failure collect();
  Failure take(int rank);
  Failure distribute();

  std::vector<Contribution> given_;
  std::vector<bool> missing_;
};

Failure HubSide::collect() {
  const auto nranks = circle_.channels.size();
  given_.resize(nranks);
  missing_.assign(nranks, true);
  missing_[static_cast<size_t>(own_)] = false;
  given_[static_cast<size_t>(own_)].bytes.assign(request_.bytes.begin(), request_.bytes.end());
  Limit limit = request_.limit;
  while (true) {
    std::vector<pollfd> polled;
    std::vector<int> ranks;
    for (size_t r = 0; r < nranks; ++r) {
      if (!missing_[r]) continue;
      polled.push_back({circle_.channels[r]->fd(), POLLIN, 0});
      ranks.push_back(static_cast<int>(r));
    }
    if (polled.empty()) return {};
    if (limit.cancelled())
      return {Status(PURLIN_ABORTED, describe(own_) + " called off by an abort"), own_};
    if (limit.verdict_due())
      return {Status(PURLIN_TIMEOUT,
                     fmt::format("{} did not come to {} within {} ms", list_ranks(missing_), what(),
                                 limit.timeout().count())),
              ranks.front()};
    const int ready = ::poll(polled.data(), polled.size(), limit.slice_ms());
    if (ready < 0 && errno != EINTR) return {socket_error("poll"), own_};
    for (size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].revents != 0) {
        Failure failure = take(ranks[i]);
        if (!failure.status) return failure;
      } else if (ready <= 0 && record_.control().state(ranks[i]) == PeerState::kLost) {
        return gone(ranks[i]);  // a forked child of the peer keeps its socket open
      }
    }
  }
}

Failure HubSide::take(int rank) {
  auto message = channel(rank).poll_message();
  if (!message) return failed(rank, message.status());
  if (!*message) return {};
  Failure wrong = check(rank, **message, MessageType::kContribution);
  if (!wrong.status) return wrong;
  Contribution& given = given_[static_cast<size_t>(rank)];
  given.bytes = std::move((*message)->payload);
  given.descriptors = std::move((*message)->descriptors);
  missing_[static_cast<size_t>(rank)] = false;
  return {};
}

Failure HubSide::distribute() {
  std::vector<std::byte> payload;
  for (size_t r = 0; r < given_.size(); ++r) {
    const bool own = static_cast<int>(r) == own_;
    const size_t count = own ? request_.descriptors.size() : given_[r].descriptors.size();
    const Portion portion{static_cast<uint32_t>(given_[r].bytes.size()),
                          static_cast<uint32_t>(count)};
    const auto bytes = std::as_bytes(std::span(&portion, 1));
    payload.insert(payload.end(), bytes.begin(), bytes.end());
  }
  for (const Contribution& given : given_)
    payload.insert(payload.end(), given.bytes.begin(), given.bytes.end());

  for (size_t to = 0; to < given_.size(); ++to) {
    if (!circle_.channels[to]) continue;
    std::vector<int> descriptors;
    for (size_t r = 0; r < given_.size(); ++r) {
      if (r == to) continue;
      if (static_cast<int>(r) == own_)
        descriptors.insert(descriptors.end(), request_.descriptors.begin(),
                           request_.descriptors.end());
      for (const OwnedFd& fd : given_[r].descriptors) descriptors.push_back(fd.get());
    }
    const Status sent = circle_.channels[to]->send(head(MessageType::kResult), payload, descriptors,
                                                   request_.limit);
    // All have given: the exchange holds for everybody who lives. That this rank died since then is
    // the next exchange's matter.
    if (!sent && sent.code() != PURLIN_PEER_LOST) return failed(static_cast<int>(to), sent);
  }
  return {};
}

class GuestSide : Side {
 public:
  using Side::Side;

  Result<std::vector<Contribution>> run() {
    Status sent = channel(circle_.hub)
                      .send(head(MessageType::kContribution), request_.bytes, request_.descriptors,
                            request_.limit);
    // The hub may have closed after it told why: that is still to be read.
    if (!sent && sent.code() != PURLIN_PEER_LOST) return give_up(sent);
    auto message = wait();
    if (!message) return message.status();
    const Failure wrong = check(circle_.hub, *message, MessageType::kResult);
    if (!wrong.status) return wrong.status;
    auto contributions = unpack(std::move(*message));
    if (!contributions) return give_up(contributions.status());
    return contributions;
  }

 private:
  Result<Message> wait();
  Result<std::vector<Contribution>> unpack(Message message) const;
  // A bare hang-up would look like a death.
  Status give_up(const Status& reason) const {
    tell(channel(circle_.hub), own_, {reason.with_context(describe(own_) + " gave up"), own_});
    return reason.with_context(what());
  }
};

Result<Message> GuestSide::wait() {
  Channel& hub = channel(circle_.hub);
  while (true) {
    auto message = hub.poll_message();
    if (!message && message.status().code() == PURLIN_PEER_LOST) return gone(circle_.hub).status;
    if (!message) return give_up(message.status());
    if (*message) return std::move(**message);
    if (request_.limit.cancelled())
      return give_up(Status(PURLIN_ABORTED, "called off by an abort"));
    if (request_.limit.passed())
      return give_up(Status(PURLIN_TIMEOUT,
                            fmt::format("{}, through which the ranks exchange, did "
                                        "not answer within {} ms",
                                        describe(circle_.hub), request_.limit.timeout().count())));
    pollfd polled{hub.fd(), POLLIN, 0};
    const int ready = ::poll(&polled, 1, request_.limit.slice_ms());
    if (ready < 0 && errno != EINTR) return give_up(socket_error("poll"));
    if (ready == 0 && record_.control().state(circle_.hub) == PeerState::kLost)
      return gone(circle_.hub).status;  // a forked child of the hub keeps the socket open
  }
}

Result<std::vector<Contribution>> GuestSide::unpack(Message message) const {
  const auto malformed =
      Status(PURLIN_MISMATCH, describe(circle_.hub) + " sent a result that cannot be read");
  const size_t nranks = circle_.channels.size();
  size_t at = nranks * sizeof(Portion);
  size_t next = 0;
  if (message.payload.size() < at) return malformed;
  std::vector<Contribution> all(nranks);
  for (size_t r = 0; r < nranks; ++r) {
    Portion portion{};
    std::memcpy(&portion, message.payload.data() + r * sizeof portion, sizeof portion);
    if (portion.bytes > message.payload.size() - at) return malformed;
    const auto begin = message.payload.begin() + static_cast<std::ptrdiff_t>(at);
    all[r].bytes.assign(begin, begin + portion.bytes);
    at += portion.bytes;
    if (static_cast<int>(r) == own_) continue;
    if (portion.descriptors > message.descriptors.size() - next) return malformed;
    for (uint32_t i = 0; i < portion.descriptors; ++i)
      all[r].descriptors.push_back(std::move(message.descriptors[next++]));
  }
  if (at != message.payload.size() || next != message.descriptors.size()) return malformed;
  return all;
}

}  // namespace

Result<std::vector<Contribution>> exchange(Circle& circle, const ExchangeRequest& request,
                                           const LivenessRecord& record) {
  if (circle.hub == record.roster().rank) return HubSide(circle, request, record).run();
  return GuestSide(circle, request, record).run();
}

}  // namespace purlin
