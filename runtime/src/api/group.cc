#include "api/group.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <optional>
#include <thread>
#include <vector>

#include "communicator/element.h"
#include "communicator/message_steps.h"
#include "status/last_error.h"

namespace purlin {
namespace {

// A call with copies of what its pointers need not outlive the group for.
struct Queued {
  purlin_call call;
  purlin_stream_t stream = nullptr;
  std::vector<uint64_t> arrays[4];
  std::vector<unsigned char> scalar;
};

struct Member {
  std::shared_ptr<Handle> handle;
  std::list<Queued> calls;
  std::vector<Message> messages;
  std::vector<size_t> inner_ends;     // numbers of messages at which inner groups ended
  std::vector<size_t> step_starts;    // of the second and later steps
  std::optional<FusedCall> exchange;  // stands for the messages of the present step

  const Communicator& communicator() const { return *handle->communicator; }
  size_t steps() const { return step_starts.size() + 1; }
  std::span<const Message> step(size_t i) const {
    const size_t begin = i == 0 ? 0 : step_starts[i - 1];
    const size_t end = i < step_starts.size() ? step_starts[i] : messages.size();
    return std::span(messages).subspan(begin, end - begin);
  }
};

struct Group {
  int depth = 0;
  std::vector<Member> members;  // a communicator each, in the order of their first call
  Status error;                 // the first that a call of the group met
};

thread_local Group group;

void copy_array(const uint64_t** pointer, int n, std::vector<uint64_t>* copy) {
  if (*pointer == nullptr) return;
  copy->assign(*pointer, *pointer + n);
  *pointer = copy->data();
}

Member& member_of(std::shared_ptr<Handle> handle) {
  for (Member& m : group.members)
    if (m.handle == handle) return m;
  return group.members.emplace_back(Member{std::move(handle), {}, {}, {}, {}, {}});
}

// The communicator becomes a member, so that its peers hear of the refusal.
Status note_error(std::shared_ptr<Handle> handle, const Status& status) {
  member_of(std::move(handle));
  if (group.error.is_ok()) group.error = status;
  return status;
}

// The collectives come with the last step.
Status run_step(const Member& member, size_t step) {
  std::vector<GroupCall> calls;
  if (step + 1 == member.steps())
    for (const Queued& queued : member.calls) calls.push_back({&queued.call, queued.stream});
  return member.handle->communicator->run(member.step(step), calls,
                                          member.exchange ? &*member.exchange : nullptr);
}

// Where this thread speaks for all ranks of a communicator, its messages may be one all_to_all_v.
void fuse_exchanges(std::vector<Member>& members, size_t step) {
  for (Member& member : members) member.exchange.reset();
  for (const Member& first : members) {
    const Communicator& one = first.communicator();
    if (one.rank() != 0 || step >= first.steps() || first.step(step).empty()) continue;
    std::vector<Member*> ranks(static_cast<size_t>(one.size()));
    for (Member& member : members)
      if (member.communicator().identity() == one.identity())
        ranks[static_cast<size_t>(member.communicator().rank())] = &member;
    std::vector<std::span<const Message>> messages;
    for (const Member* member : ranks)
      if (member != nullptr && member->steps() == first.steps())
        messages.emplace_back(member->step(step));
    if (messages.size() != ranks.size()) continue;
    std::vector<FusedCall> calls = fuse_exchange(messages);
    for (size_t r = 0; r < calls.size(); ++r) ranks[r]->exchange = std::move(calls[r]);
  }
}

// Ranks of one thread wait for each other, so each gets a thread of its own.
Status run_members(std::vector<Member>& members, size_t step) {
  if (members.size() == 1) return run_step(members[0], step);
  fuse_exchanges(members, step);
  std::vector<Status> statuses(members.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < members.size(); ++i)
    if (step < members[i].steps())
      threads.emplace_back([&, i] { statuses[i] = run_step(members[i], step); });
  for (std::thread& thread : threads) thread.join();
  for (Status& status : statuses)
    if (!status.is_ok()) return status;
  return {};
}

Status run_members(std::vector<Member>& members) {
  size_t steps = 1;
  for (Member& member : members) {
    member.step_starts = step_starts(member.messages, member.inner_ends);
    steps = std::max(steps, member.steps());
  }
  for (size_t step = 0; step < steps; ++step)
    PURLIN_RETURN_IF_ERROR(run_members(members, step));
  return {};
}

void end_inner_group() {
  for (Member& member : group.members)
    if (const size_t size = member.messages.size();
        size != (member.inner_ends.empty() ? 0 : member.inner_ends.back()))
      member.inner_ends.push_back(size);
}

}  // namespace

bool in_group() { return group.depth > 0; }

Status add_to_group(std::shared_ptr<Handle> handle, const purlin_call& call,
                    purlin_stream_t stream) {
  const int n = handle->communicator->size();
  auto facts = check_call(call, n, handle->communicator->rank());
  if (!facts) return note_error(std::move(handle), facts.status());
  Queued& queued = member_of(std::move(handle)).calls.emplace_back();
  queued.call = call;
  queued.stream = stream;
  if (call.counts_on_device == 0) {
    const uint64_t** pointers[] = {&queued.call.send_counts, &queued.call.send_displs,
                                   &queued.call.recv_counts, &queued.call.recv_displs};
    for (int i = 0; i < 4; ++i) copy_array(pointers[i], n, &queued.arrays[i]);
  }
  if (call.scalar != nullptr && facts->reduces) {
    const auto* bytes = static_cast<const unsigned char*>(call.scalar);
    queued.scalar.assign(bytes, bytes + accumulator_bytes(call.dtype));
    queued.call.scalar = queued.scalar.data();
  }
  return {};
}

Status add_to_group(std::shared_ptr<Handle> handle, const Message& message) {
  const Status status = check_message(message, handle->communicator->size());
  if (!status.is_ok()) return note_error(std::move(handle), status);
  member_of(std::move(handle)).messages.push_back(message);
  return {};
}

}  // namespace purlin

extern "C" purlin_status purlin_group_start(void) {
  ++purlin::group.depth;
  return PURLIN_OK;
}

extern "C" purlin_status purlin_group_end(void) {
  using purlin::group;
  if (group.depth == 0)
    return purlin::remember(
        purlin::Status(PURLIN_INVALID_USAGE, "purlin_group_end without purlin_group_start"));
  if (--group.depth > 0) {
    purlin::end_inner_group();
    return PURLIN_OK;
  }
  purlin::Group finished = std::move(group);
  group = purlin::Group{};
  if (!finished.error.is_ok()) {
    for (const purlin::Member& member : finished.members) member.handle->communicator->refuse();
    return purlin::remember(
        finished.error.with_context("a call of this group was wrong, none was made"));
  }
  if (finished.members.empty()) return PURLIN_OK;
  return purlin::remember(purlin::run_members(finished.members));
}
