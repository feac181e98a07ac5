#include "api/group.h"

#include <fmt/format.h>

#include <cstring>
#include <list>
#include <optional>
#include <thread>
#include <vector>

#include "communicator/element.h"
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
  std::optional<FusedCall> exchange;  // stands for the messages

  const Communicator& communicator() const { return *handle->communicator; }
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
  return group.members.emplace_back(Member{std::move(handle), {}, {}, {}});
}

// The communicator becomes a member, so that its peers hear of the refusal.
Status note_error(std::shared_ptr<Handle> handle, const Status& status) {
  member_of(std::move(handle));
  if (group.error.is_ok()) group.error = status;
  return status;
}

Status run_member(const Member& member) {
  std::vector<GroupCall> calls;
  for (const Queued& queued : member.calls) calls.push_back({&queued.call, queued.stream});
  return member.handle->communicator->run(member.messages, calls,
                                          member.exchange ? &*member.exchange : nullptr);
}

// Where this thread speaks for all ranks of a communicator, its messages may be one all_to_all_v.
void fuse_exchanges(std::vector<Member>& members) {
  for (const Member& first : members) {
    const Communicator& one = first.communicator();
    if (one.rank() != 0 || first.messages.empty()) continue;
    std::vector<Member*> ranks(static_cast<size_t>(one.size()));
    for (Member& member : members)
      if (member.communicator().identity() == one.identity())
        ranks[static_cast<size_t>(member.communicator().rank())] = &member;
    std::vector<std::span<const Message>> messages;
    for (const Member* member : ranks)
      if (member != nullptr) messages.emplace_back(member->messages);
    if (messages.size() != ranks.size()) continue;
    std::vector<FusedCall> calls = fuse_exchange(messages);
    for (size_t r = 0; r < calls.size(); ++r) ranks[r]->exchange = std::move(calls[r]);
  }
}

// Ranks of one thread wait for each other, so each gets a thread of its own.
Status run_members(std::vector<Member>& members) {
  if (members.size() == 1) return run_member(members[0]);
  fuse_exchanges(members);
  std::vector<Status> statuses(members.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < members.size(); ++i)
    threads.emplace_back([&, i] { statuses[i] = run_member(members[i]); });
  for (std::thread& thread : threads) thread.join();
  for (Status& status : statuses)
    if (!status.is_ok()) return status;
  return {};
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
  if (--group.depth > 0) return PURLIN_OK;
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
