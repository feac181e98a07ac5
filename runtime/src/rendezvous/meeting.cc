#include "rendezvous/meeting.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <thread>

#include "rendezvous/door.h"
#include "rendezvous/failure.h"
#include "rendezvous/lifeline.h"

namespace purlin {
namespace {

Result<Hello> introduce_self(const MeetingRequest& request) {
  Hello self;
  self.token = request.address.token;
  self.rank = request.rank;
  self.nranks = request.nranks;
  self.sequence = request.sequence;
  self.deadline = request.limit.deadline();
  self.intro.pid = ::getpid();
  const auto process = process_identity();
  if (!process) return process.status();
  self.intro.process = process.value();
  if (request.members) return self;
  auto lifeline = make_lifeline();
  if (lifeline)
    self.intro.lifeline = std::move(lifeline).value();
  else
    self.intro.trouble = lifeline.status();
  return self;
}

// One who knocked at the hub's door, from hello to welcome.
class Guest {
 public:
  Guest(const MeetingRequest& request, const Hello& self, OwnedFd socket, SocketUser holder)
      : request_(request),
        self_(self),
        channel_(std::make_unique<Channel>(std::move(socket), describe(holder))) {}

  // Nothing: the hub closed before it took this rank in, so the meeting was another one.
  Result<std::optional<Circle>> attend();

 private:
  static std::string describe(const SocketUser& holder) {
    return fmt::format("process {}, which holds the rendezvous", holder.pid);
  }
  Status accepted(const Message& message);
  Result<Circle> welcomed(Message message);
  Status give_up(const Status& reason);

  const MeetingRequest& request_;
  const Hello& self_;
  std::unique_ptr<Channel> channel_;
  int hub_ = -1;
};

Status Guest::accepted(const Message& message) {
  AcceptedPayload payload{};
  if (message.payload.size() != sizeof payload)
    return {PURLIN_MISMATCH, channel_->peer() + " sent a malformed acceptance"};
  std::memcpy(&payload, message.payload.data(), sizeof payload);
  if (payload.hub < 0 || payload.hub >= request_.nranks)
    return {PURLIN_MISMATCH, channel_->peer() + " sent a malformed acceptance"};
  hub_ = payload.hub;
  channel_->set_peer(describe_rank(hub_, payload.pid) + ", which gathers the ranks,");
  return {};
}

Result<Circle> Guest::welcomed(Message message) {
  const auto malformed = Status(PURLIN_MISMATCH, channel_->peer() + " sent a malformed welcome");
  Circle circle;
  circle.hub = hub_;
  WelcomePayload head{};
  const auto nranks = static_cast<size_t>(request_.nranks);
  const size_t seats = request_.members ? 0 : nranks;
  if (hub_ < 0 || message.payload.size() != sizeof head + seats * sizeof(SeatPayload))
    return malformed;
  std::memcpy(&head, message.payload.data(), sizeof head);
  circle.communicator = head.communicator;
  circle.token = head.token;
  circle.roster.rank = request_.rank;
  std::vector<OwnedFd>& attached = message.descriptors;
  if (seats != 0 && attached.empty()) return malformed;
  for (size_t r = 0; r < seats; ++r) {
    SeatPayload seat{};
    std::memcpy(&seat, message.payload.data() + sizeof head + r * sizeof seat, sizeof seat);
    circle.roster.seats.push_back({seat.process, seat.pid});
    if (seat.lifeline < 0) continue;
    const auto index = static_cast<size_t>(seat.lifeline);
    if (index >= attached.size()) return malformed;
    // Ranks of one process name one line; the first of them takes it.
    if (attached[index]) circle.lines.push_back({seat.process, std::move(attached[index])});
  }
  if (seats != 0) circle.control = std::move(attached[0]);
  circle.channels.resize(nranks);
  circle.channels[static_cast<size_t>(hub_)] = std::move(channel_);
  return circle;
}

// A bare hang-up would look like a death.
Status Guest::give_up(const Status& reason) {
  tell(*channel_, request_.rank,
       {reason.with_context(describe_rank(request_.rank, self_.intro.pid) + " gave up"),
        request_.rank});
  return reason;
}

Result<std::optional<Circle>> Guest::attend() {
  channel_->set_most_bytes(64 << 10);
  Status sent = send_hello(*channel_, self_, request_.limit);
  if (!sent && sent.code() == PURLIN_PEER_LOST) return std::optional<Circle>();
  if (!sent) return give_up(sent);
  while (true) {
    auto message = channel_->receive(request_.limit);
    if (!message && message.status().code() == PURLIN_PEER_LOST) {
      if (hub_ < 0) return std::optional<Circle>();
      return Status(PURLIN_PEER_LOST,
                    channel_->peer() + " is gone: it closed its connection before all had come");
    }
    if (!message) return give_up(message.status());
    switch (message->head.type) {
      case MessageType::kAccepted:
        if (Status failed = accepted(*message); !failed) return give_up(failed);
        break;
      case MessageType::kWelcome: {
        auto circle = welcomed(std::move(*message));
        if (!circle) return give_up(circle.status());
        circle->channels[static_cast<size_t>(hub_)]->set_most_bytes(kMessageBytes);
        return std::optional<Circle>(std::move(circle).value());
      }
      case MessageType::kRefused:
        return decode_failure(message->payload).status.with_context(channel_->peer() + " refused");
      case MessageType::kFailure:
        return decode_failure(message->payload).status;
      default:
        return give_up(Status(PURLIN_MISMATCH, channel_->peer() + " sent a message out of turn"));
    }
  }
}

// Without a descriptor for a socket nobody would hear of this rank's trouble: the lifeline's is
// used to tell them.
bool spare_descriptor(Introduction& self, const Status& failed) {
  if (!self.lifeline) return false;
  self.lifeline.reset();
  self.trouble = failed;
  return true;
}

Status held_by_another(const std::string& name, const SocketUser& holder) {
  return {PURLIN_SYSTEM_ERROR,
          fmt::format("the abstract socket '{}' is held by process {} of user {}, this is user {}: "
                      "all ranks must run as one user; if that process is no rank, use a unique id "
                      "or another PURLIN_JOB_ID",
                      name, holder.pid, holder.uid, ::geteuid())};
}

}  // namespace

Result<Circle> meet(const MeetingRequest& request) {
  auto self = introduce_self(request);
  if (!self) return self.status();
  const std::string& name = request.address.name;
  auto pause = std::chrono::microseconds(20);
  while (true) {
    if (request.limit.cancelled()) return Status(PURLIN_ABORTED, "called off by an abort");
    if (request.limit.passed())
      return Status(PURLIN_TIMEOUT,
                    fmt::format("nobody answered at the abstract socket '{}' within {} ms", name,
                                request.limit.timeout().count()));
    auto door = open_door(name);
    if (!door && spare_descriptor(self->intro, door.status())) continue;
    if (!door) return door.status();
    if (*door) return gather(request, std::move(self->intro), std::move(door).value());

    auto socket = knock(name);
    if (!socket && spare_descriptor(self->intro, socket.status())) continue;
    if (!socket) return socket.status();
    if (*socket) {
      const auto holder = other_end(*socket);
      if (!holder) return holder.status();
      if (holder->uid != ::geteuid()) return held_by_another(name, *holder);
      auto circle = Guest(request, *self, std::move(socket).value(), *holder).attend();
      if (!circle) return circle.status();
      if (*circle) return std::move(**circle);
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(5000));
  }
}

}  // namespace purlin
