#include "nccl/group.h"

#include <cstring>
#include <set>
#include <vector>

#include "nccl/driver.h"
#include "nccl/errors.h"
#include "nccl/fallback.h"

namespace purlin::nccl {
namespace {

struct Job {
  std::function<Result()> work;
  bool needs_all_ranks = false;
};

struct Jobs {
  std::shared_ptr<Comm> comm;
  std::vector<Job> list;
};

struct Group {
  int depth = 0;
  Result error = kSuccess;  // the first of its calls
  std::string error_text;
  std::vector<Jobs> jobs;            // a communicator each
  std::shared_ptr<Comm> with_calls;  // one that has calls in purlin's group
  RealNccl* real = nullptr;          // has been told of the group
};

thread_local Group group;

bool same_communicator(const Comm& a, const Comm& b) {
  return a.seed && b.seed && std::memcmp(&*a.seed, &*b.seed, sizeof *a.seed) == 0;
}

size_t waiting_for_all(const Jobs& jobs) {
  size_t count = 0;
  for (const Job& job : jobs.list) count += job.needs_all_ranks ? 1 : 0;
  return count;
}

// Whether all ranks of its communicator have as many such jobs here.
bool complete(const Jobs& one, const std::vector<Jobs>& all) {
  std::set<int> ranks;
  for (const Jobs& other : all)
    if (same_communicator(*one.comm, *other.comm) && waiting_for_all(other) == waiting_for_all(one))
      ranks.insert(other.comm->rank);
  return static_cast<int>(ranks.size()) == one.comm->nranks;
}

void drop_incomplete(std::vector<Jobs>* all) {
  std::vector<bool> keep;
  for (const Jobs& jobs : *all) keep.push_back(complete(jobs, *all));
  for (size_t i = 0; i < all->size(); ++i)
    if (!keep[i]) std::erase_if((*all)[i].list, [](const Job& job) { return job.needs_all_ranks; });
  std::erase_if(*all, [](const Jobs& jobs) { return jobs.list.empty(); });
}

// The first error, else kInProgress if there is one.
void add(Result next, Result* all) {
  if (next == kSuccess || (*all != kSuccess && *all != kInProgress)) return;
  if (next != kInProgress || *all == kSuccess) *all = next;
}

// Last errors belong to threads, so those of other threads are repeated here.
Result do_jobs(std::vector<Jobs> all) {
  drop_incomplete(&all);
  std::vector<Result> results(all.size(), kSuccess);
  std::vector<std::string> texts(all.size());
  const auto work_off = [&](size_t i) {
    for (const Job& job : all[i].list) {
      add(job.work(), &results[i]);
      if (results[i] != kSuccess && results[i] != kInProgress) break;
    }
    texts[i] = own_error();
  };
  if (all.size() == 1) {
    work_off(0);
    return results[0];
  }
  std::vector<std::thread> threads;
  for (size_t i = 0; i < all.size(); ++i)
    threads.emplace_back([&, i] {
      enter(all[i].comm->context);
      work_off(i);
    });
  for (std::thread& thread : threads) thread.join();
  Result result = kSuccess;
  for (size_t i = 0; i < all.size(); ++i) {
    const Result before = result;
    add(results[i], &result);
    if (!texts[i].empty() && (before == kSuccess || before == kInProgress)) repeat(texts[i]);
  }
  return result;
}

// A group of purlin's that holds a wrong call carries out none.
Result end_purlin_group(const Group& finished, bool carry_out) {
  if (!carry_out && finished.with_calls)
    static_cast<void>(purlin_send(nullptr, 0, PURLIN_U8, -1, finished.with_calls->purlin, nullptr));
  const purlin_status status = purlin_group_end();
  return carry_out ? from_purlin(status) : kSuccess;
}

// False at the outermost group.
bool leave_inner_group() {
  if (group.depth < 2) return false;
  --group.depth;
  static_cast<void>(purlin_group_end());  // an inner one only notes where it ended
  return true;
}

Group take_group() {
  Group finished = std::move(group);
  group = Group{};
  return finished;
}

Result finish(Group finished) {
  Result result = finished.error;
  const std::string text = finished.error_text;
  if (result == kSuccess && !finished.jobs.empty()) result = do_jobs(std::move(finished.jobs));
  const bool good = result == kSuccess || result == kInProgress;
  const Result calls = end_purlin_group(finished, good);
  Result real = kSuccess;
  if (finished.real != nullptr) real = finished.real->passed(finished.real->GroupEnd());
  if (finished.error != kSuccess)
    return fail(result, "a call of this group was wrong, none was carried out: " + text);
  if (!good) return result;
  if (calls != kSuccess) return calls;
  return real != kSuccess ? real : result;
}

std::vector<Job>& jobs_of(const std::shared_ptr<Comm>& comm) {
  for (Jobs& jobs : group.jobs)
    if (jobs.comm == comm) return jobs.list;
  return group.jobs.emplace_back(Jobs{comm, {}}).list;
}

}  // namespace

bool in_group() { return group.depth > 0; }

void start_group() {
  static_cast<void>(purlin_group_start());  // cannot fail
  if (group.depth++ > 0) return;
  group.real = RealNccl::opened();
  if (group.real != nullptr) static_cast<void>(noted(group.real->passed(group.real->GroupStart())));
}

Result end_group() {
  if (group.depth == 0) return fail(kInvalidUsage, "ncclGroupEnd without ncclGroupStart");
  if (leave_inner_group()) return kSuccess;
  return finish(take_group());
}

void drop_group() {
  if (group.depth == 0 || leave_inner_group()) return;
  const Group dropped = take_group();
  static_cast<void>(end_purlin_group(dropped, false));
  if (dropped.real != nullptr) static_cast<void>(dropped.real->GroupEnd());
}

Result noted(Result result) {
  if (!in_group() || result == kSuccess || result == kInProgress || group.error != kSuccess)
    return result;
  group.error = result;
  group.error_text = last_error();
  return result;
}

void has_call(const std::shared_ptr<Comm>& comm) {
  if (in_group() && !group.with_calls) group.with_calls = comm;
}

Result together(const std::shared_ptr<Comm>& comm, std::function<Result()> work) {
  if (!in_group()) return work();
  jobs_of(comm).push_back({std::move(work), false});
  return kSuccess;
}

Result together_if_complete(const std::shared_ptr<Comm>& comm, std::function<Result()> work) {
  if (in_group()) {
    jobs_of(comm).push_back({std::move(work), true});
    return kSuccess;
  }
  return comm->nranks == 1 ? work() : kSuccess;
}

}  // namespace purlin::nccl
