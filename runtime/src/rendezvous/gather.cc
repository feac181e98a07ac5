#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "rendezvous/door.h"
#include "rendezvous/failure.h"
#include "rendezvous/farewell.h"
#include "rendezvous/meeting.h"

namespace purlin {
namespace {

class Hub {
 public:
  Hub(const MeetingRequest& request, Introduction self, OwnedFd door)
      : request_(request),
        limit_(request.limit),
        door_(std::move(door)),
        spare_(door_.duplicate()),
        seats_(static_cast<size_t>(request.nranks)),
        told_(static_cast<size_t>(request.nranks)) {
    Seated& own = seats_[static_cast<size_t>(request.rank)];
    own.arrived = true;
    own.intro = std::move(self);
  }

  Result<Circle> run();

 private:
  struct Seated {
    bool arrived = false;
    Introduction intro;
    std::unique_ptr<Channel> channel;  // none for the hub itself
  };

  std::string describe(size_t r) const {
    return describe_rank(static_cast<int>(r), seats_[r].intro.pid);
  }
  // What failed in this process, whoever was to be heard or told.
  Failure own_failure(const Status& failed) const {
    return {failed.with_context(describe(static_cast<size_t>(request_.rank))), request_.rank};
  }
  bool complete() const {
    return std::all_of(seats_.begin(), seats_.end(), [](const Seated& s) { return s.arrived; });
  }
  Failure wait_for_events();
  Failure check_members();
  Failure hear_seated(size_t r);
  Status let_in();
  Failure hear_newcomer(size_t index);
  Status check_belongs(const Hello& hello) const;
  Status check_agrees(const Hello& hello) const;
  Failure seat(std::unique_ptr<Channel> channel, Hello hello);
  void turn_away(Channel& channel, const Status& reason);
  Failure overdue() const;
  Result<Circle> welcome();
  Status send_welcome(size_t r, const Circle& circle);
  Status fail(const Failure& failure);

  const MeetingRequest& request_;
  Limit limit_;  // the earliest of those who have come
  OwnedFd door_;
  OwnedFd spare_;  // given up to tell a newcomer that there are no descriptors left
  std::vector<Seated> seats_;
  std::vector<std::unique_ptr<Channel>> newcomers_;  // have not said hello yet
  std::vector<bool> told_;                           // of the failure
  int refused_ = 0;
  std::string last_refusal_;
  const uint64_t start_ = monotonic_now();
};

Result<Circle> Hub::run() {
  const size_t own = static_cast<size_t>(request_.rank);
  if (const Status trouble = seats_[own].intro.trouble; !trouble)
    return fail(own_failure(trouble));
  while (!complete()) {
    if (limit_.cancelled())
      return fail(
          {Status(PURLIN_ABORTED, describe(own) + " called off by an abort"), request_.rank});
    if (limit_.verdict_due()) return fail(overdue());
    Failure failure = wait_for_events();
    if (!failure.status) return fail(failure);
  }
  return welcome();
}

Failure Hub::wait_for_events() {
  std::vector<pollfd> polled{{door_.get(), POLLIN, 0}};
  std::vector<size_t> ranks;
  for (size_t r = 0; r < seats_.size(); ++r) {
    if (!seats_[r].channel) continue;
    polled.push_back({seats_[r].channel->fd(), POLLIN, 0});
    ranks.push_back(r);
  }
  const size_t first_newcomer = polled.size();
  for (const auto& channel : newcomers_) polled.push_back({channel->fd(), POLLIN, 0});
  if (::poll(polled.data(), polled.size(), limit_.slice_ms()) < 0 && errno != EINTR)
    return own_failure(socket_error("poll"));

  // Those who left come first: a rank that died and was started anew is no double arrival.
  for (size_t i = 0; i < ranks.size(); ++i)
    if (polled[i + 1].revents != 0)
      if (Failure failure = hear_seated(ranks[i]); !failure.status) return failure;
  for (size_t i = polled.size(); i-- > first_newcomer;)
    if (polled[i].revents != 0)
      if (Failure failure = hear_newcomer(i - first_newcomer); !failure.status) return failure;
  if (polled[0].revents != 0)
    if (Status failed = let_in(); !failed) return own_failure(failed);
  return check_members();
}

// In a reunion, members that have left or died will not come.
Failure Hub::check_members() {
  if (!request_.members) return {};
  for (size_t r = 0; r < seats_.size(); ++r) {
    const int rank = static_cast<int>(r);
    const PeerState state = request_.members->control().state(rank);
    if (seats_[r].arrived || state == PeerState::kMember) continue;
    const char* what = state == PeerState::kLeft ? " has destroyed the communicator" : " has ended";
    return {Status(PURLIN_PEER_LOST, request_.members->roster().describe(rank) + what), rank};
  }
  return {};
}

// A seated rank has nothing to say before the welcome, except that it cannot go on.
Failure Hub::hear_seated(size_t r) {
  const int rank = static_cast<int>(r);
  auto message = seats_[r].channel->poll_message();
  if (message && !*message) return {};
  told_[r] = true;
  if (!message && message.status().code() == PURLIN_PEER_LOST)
    return {Status(PURLIN_PEER_LOST,
                   describe(r) + " is gone: it closed its connection before all ranks had come"),
            rank};
  if (!message && message.status().code() == PURLIN_MISMATCH) return {message.status(), rank};
  if (!message) return own_failure(message.status());
  if ((*message)->head.type == MessageType::kFailure) return decode_failure((*message)->payload);
  return {Status(PURLIN_MISMATCH, describe(r) + " sent a message out of turn"), rank};
}

Status Hub::let_in() {
  while (true) {
    auto socket = admit(door_);
    if (!socket) return socket.status();
    if (!*socket) return {};
    const auto user = other_end(*socket);
    if (!user) return user.status();
    if (user->uid != ::geteuid()) {
      ++refused_;
      last_refusal_ =
          fmt::format("process {} is of user {}, not {}", user->pid, user->uid, ::geteuid());
      continue;
    }
    newcomers_.push_back(
        std::make_unique<Channel>(std::move(socket).value(), fmt::format("process {}", user->pid)));
    newcomers_.back()->set_most_bytes(kMostHelloBytes);
  }
}

Failure Hub::hear_newcomer(size_t index) {
  auto message = newcomers_[index]->poll_message();
  if (message && !*message) return {};
  std::unique_ptr<Channel> channel = std::move(newcomers_[index]);
  newcomers_.erase(newcomers_.begin() + static_cast<std::ptrdiff_t>(index));
  if (!message && message.status().code() == PURLIN_PEER_LOST) return {};  // will come again
  if (!message && message.status().code() == PURLIN_MISMATCH) {
    turn_away(*channel, message.status());
    return {};
  }
  if (!message) {
    const Failure failure = own_failure(message.status());
    tell(*channel, request_.rank, failure);
    return failure;
  }
  auto hello = read_hello(std::move(**message));
  if (hello) return seat(std::move(channel), std::move(hello).value());
  turn_away(*channel, hello.status().with_context(channel->peer()));
  return {};
}

// The others need not suffer from somebody who does not belong to them.
void Hub::turn_away(Channel& channel, const Status& reason) {
  ++refused_;
  last_refusal_ = reason.message();
  tell(channel, request_.rank, {reason, -1}, MessageType::kRefused);
}

// Whether the newcomer is one of the ranks that meet here.
Status Hub::check_belongs(const Hello& hello) const {
  if (!equal_in_constant_time(hello.token, request_.address.token))
    return {PURLIN_MISMATCH,
            "it has not the token of the ranks which meet here: it holds another unique id or "
            "belongs to another job"};
  if (!request_.members && !hello.intro.lifeline && hello.intro.trouble)
    return {PURLIN_MISMATCH, "it came without its lifeline"};
  return {};
}

// Whether one that belongs here fits to those who have come. If not, nobody can go on.
Status Hub::check_agrees(const Hello& hello) const {
  const std::string who = describe_rank(hello.rank, hello.intro.pid);
  const std::string own = describe(static_cast<size_t>(request_.rank));
  if (hello.nranks != request_.nranks)
    return {PURLIN_MISMATCH, fmt::format("{} says there are {} ranks, {} says {}", who,
                                         hello.nranks, own, request_.nranks)};
  if (hello.rank < 0 || hello.rank >= request_.nranks)
    return {PURLIN_MISMATCH, who + " is outside the ranks that meet"};
  if (hello.sequence != request_.sequence)
    return {PURLIN_MISMATCH, fmt::format("{} is at exchange {} of the communicator, {} is at {}",
                                         who, hello.sequence, own, request_.sequence)};
  const Seated& seated = seats_[static_cast<size_t>(hello.rank)];
  if (seated.arrived)
    return {PURLIN_MISMATCH,
            fmt::format("rank {} came twice, as process {} and as process {}: either a rank number "
                        "was given twice, or two jobs meet at one address ({}); give each job its "
                        "own unique id or PURLIN_JOB_ID",
                        hello.rank, seated.intro.pid, hello.intro.pid, request_.address.origin)};
  return hello.intro.trouble.with_context(who);
}

Failure Hub::seat(std::unique_ptr<Channel> channel, Hello hello) {
  if (const Status stranger = check_belongs(hello); !stranger) {
    turn_away(*channel, stranger.with_context(channel->peer()));
    return {};
  }
  if (const Status wrong = check_agrees(hello); !wrong) {
    const Failure failure{wrong, hello.rank};
    tell(*channel, request_.rank, failure);
    return failure;
  }
  // One line for each process is enough, and none for the hub's own.
  const bool known = std::any_of(seats_.begin(), seats_.end(), [&](const Seated& s) {
    return s.arrived && s.intro.process == hello.intro.process;
  });
  if (known) hello.intro.lifeline.reset();
  Seated& seated = seats_[static_cast<size_t>(hello.rank)];
  seated.arrived = true;
  seated.intro = std::move(hello.intro);
  seated.channel = std::move(channel);
  seated.channel->set_peer(describe(static_cast<size_t>(hello.rank)));
  seated.channel->set_most_bytes(kMessageBytes);
  limit_.not_after(hello.deadline);
  PacketHeader head;
  head.type = MessageType::kAccepted;
  head.sender = request_.rank;
  const Introduction& own = seats_[static_cast<size_t>(request_.rank)].intro;
  const AcceptedPayload accepted{request_.rank, own.pid};
  // A peer that cannot take this is gone, which the next look at its channel shows.
  (void)seated.channel->send(head, std::as_bytes(std::span(&accepted, 1)), {}, limit_);
  return {};
}

Failure Hub::overdue() const {
  std::vector<bool> missing;
  for (const Seated& s : seats_) missing.push_back(!s.arrived);
  const auto first = std::find(missing.begin(), missing.end(), true) - missing.begin();
  if (request_.members)
    return {Status(PURLIN_TIMEOUT,
                   fmt::format("{} of {} did not come to exchange {} of the communicator within {} ms; "
                               "a registration or a split is made by all ranks, in one order: look at "
                               "what the missing ones are doing",
                               list_ranks(missing), request_.nranks, request_.sequence,
                               (monotonic_now() - start_) / 1'000'000)),
            static_cast<int>(first)};
  std::string text =
      fmt::format("{} of {} did not come to the abstract socket '{}' ({}) within {} ms",
                  list_ranks(missing), request_.nranks, request_.address.name,
                  request_.address.origin, (monotonic_now() - start_) / 1'000'000);
  if (refused_ > 0)
    text += fmt::format("; {} who came were turned away (last: {})", refused_, last_refusal_);
  text += "; were all ranks started, in one network namespace, and do all use this address?";
  return {Status(PURLIN_TIMEOUT, text), static_cast<int>(first)};
}

Result<Circle> Hub::welcome() {
  door_.reset();  // before anybody is let go: see docs/rendezvous.md
  newcomers_.clear();
  Circle circle;
  circle.hub = request_.rank;
  circle.roster.rank = request_.rank;
  if (!request_.members) {
    Status random = fill_random(circle.communicator);
    if (random) random = fill_random(circle.token);
    if (!random) return fail(own_failure(random));
    for (const Seated& s : seats_) circle.roster.seats.push_back({s.intro.process, s.intro.pid});
    auto control = ControlBlock::create(request_.nranks);
    if (!control) return fail(own_failure(control.status()));
    circle.control = std::move(control).value().take_fd();
  }
  for (size_t r = 0; r < seats_.size(); ++r) {
    if (!seats_[r].channel) continue;
    if (Status sent = send_welcome(r, circle); !sent) {
      if (sent.code() != PURLIN_PEER_LOST) return fail(own_failure(sent));
      sent = Status(PURLIN_PEER_LOST, describe(r) + " is gone: it " + sent.message());
      return fail({sent, static_cast<int>(r)});
    }
  }
  const Identity own = seats_[static_cast<size_t>(request_.rank)].intro.process;
  for (Seated& s : seats_) {
    circle.channels.push_back(std::move(s.channel));
    if (s.intro.lifeline && s.intro.process != own)
      circle.lines.push_back({s.intro.process, std::move(s.intro.lifeline)});
  }
  return circle;
}

Status Hub::send_welcome(size_t to, const Circle& circle) {
  PacketHeader head;
  head.type = MessageType::kWelcome;
  head.sender = request_.rank;
  const WelcomePayload welcome{circle.communicator, circle.token};
  std::vector<std::byte> payload(sizeof welcome);
  std::memcpy(payload.data(), &welcome, sizeof welcome);
  std::vector<int> descriptors;
  if (!request_.members) {
    descriptors.push_back(circle.control.get());
    for (const Seat& seat : circle.roster.seats) {
      SeatPayload entry{seat.process, seat.pid, -1};
      if (seat.process != circle.roster.seats[to].process) {
        const auto first = std::find_if(seats_.begin(), seats_.end(), [&](const Seated& s) {
          return s.intro.process == seat.process && s.intro.lifeline;
        });
        const auto at =
            std::find(descriptors.begin(), descriptors.end(), first->intro.lifeline.get());
        entry.lifeline = static_cast<int32_t>(at - descriptors.begin());
        if (at == descriptors.end()) descriptors.push_back(first->intro.lifeline.get());
      }
      const auto bytes = std::as_bytes(std::span(&entry, 1));
      payload.insert(payload.end(), bytes.begin(), bytes.end());
    }
  }
  return seats_[to].channel->send(head, payload, descriptors, request_.limit);
}

Status Hub::fail(const Failure& failure) {
  told_[static_cast<size_t>(request_.rank)] = true;
  if (failure.rank >= 0 && failure.rank < request_.nranks)
    told_[static_cast<size_t>(failure.rank)] = true;
  for (size_t r = 0; r < seats_.size(); ++r) {
    if (!seats_[r].channel) continue;
    tell(*seats_[r].channel, request_.rank, failure);
    seats_[r].channel.reset();
    told_[r] = true;
  }
  spare_.reset();
  if (door_) bid_farewell(door_, std::move(newcomers_), request_, failure, std::move(told_));
  return failure.status;
}

}  // namespace

Result<Circle> gather(const MeetingRequest& request, Introduction self, OwnedFd door) {
  return Hub(request, std::move(self), std::move(door)).run();
}

}  // namespace purlin
