#include "api/group.h"

#include <cstring>
#include <list>
#include <thread>
#include <vector>

#include <fmt/format.h>

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

Status run_member(Member& member) {
  for (Queued& queued : member.calls) {
    Status status = member.handle->communicator->run(queued.call, queued.stream);
    if (!status.is_ok()) return status;
  }
  return {};
}

// Ranks of one thread wait for each other, so each gets a thread of its own.
Status run_members(std::vector<Member>& members) {
  if (members.size() == 1) return run_member(members[0]);
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
  if (!facts) {
    if (group.error.is_ok()) group.error = facts.status();
    return facts.status();
  }
  Member* member = nullptr;
  for (Member& m : group.members)
    if (m.handle == handle) member = &m;
  if (member == nullptr) {
    group.members.push_back({std::move(handle), {}});
    member = &group.members.back();
  }
  Queued& queued = member->calls.emplace_back();
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

}  // namespace purlin

extern "C" purlin_status purlin_group_start(void) {
  ++purlin::group.depth;
  return PURLIN_OK;
}

extern "C" purlin_status purlin_group_end(void) {
  using purlin::group;
  if (group.depth == 0)
    return purlin::remember(purlin::Status(PURLIN_INVALID_USAGE,
                                           "purlin_group_end without purlin_group_start"));
  if (--group.depth > 0) return PURLIN_OK;
  purlin::Group finished = std::move(group);
  group = purlin::Group{};
  if (!finished.error.is_ok())
    return purlin::remember(finished.error.with_context("a call of this group was wrong, none was made"));
  if (finished.members.empty()) return PURLIN_OK;
  return purlin::remember(purlin::run_members(finished.members));
}
