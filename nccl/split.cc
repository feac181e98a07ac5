// ncclCommSplit and ncclCommShrink: communicators made from others.
#include <algorithm>
#include <vector>

#include "nccl/config.h"
#include "nccl/create.h"
#include "nccl/errors.h"
#include "nccl/fallback.h"
#include "nccl/group.h"

namespace purlin::nccl {
namespace {

constexpr uint64_t kBySplit = 1, kByShrink = 2;  // first number of what an id is derived from

Result split_purlin(Comm& parent, int color, int key, Comm& child) {
  purlin_comm_t made = nullptr;
  Result result = from_purlin(purlin_comm_split(parent.purlin, color, key, &made));
  int rank = 0, nranks = 0;
  if (result == kSuccess && made != nullptr) {
    result = from_purlin(purlin_comm_rank(made, &rank));
    if (result == kSuccess) result = from_purlin(purlin_comm_size(made, &nranks));
  }
  if (result != kSuccess) {
    set_failed(child, result);
    if (made != nullptr) static_cast<void>(purlin_comm_destroy(made));
    return result;
  }
  if (made == nullptr) return kSuccess;
  {
    const std::lock_guard lock(child.mutex);
    child.rank = rank;
    child.nranks = nranks;
  }
  set_ready(child, made);
  return kSuccess;
}

Result split_real(Comm& parent, int color, int key, Comm& child, Config* config) {
  const Result result = parent.real->passed(
      parent.real->CommSplit(parent.real_comm, color, key, &child.real_comm, config));
  if (result != kSuccess && result != kInProgress) {
    set_failed(child, result);
    return result;
  }
  const std::lock_guard lock(child.mutex);
  child.real = parent.real;
  child.state = State::kReady;
  return result;
}

std::shared_ptr<Comm> child_of(Comm& parent, const Wishes& wishes) {
  auto child = std::make_shared<Comm>();
  child->device = parent.device;
  child->context = parent.context;
  child->wishes = wishes;
  child->call_budget =
      wishes.cta_budget != parent.wishes.cta_budget ? wishes.cta_budget : parent.call_budget;
  return child;
}

// Nobody waits: the thread belongs to the child and keeps the parent. A child that joins nothing
// has no handle to ask about; it belongs to the parent.
Result split_behind(const std::shared_ptr<Comm>& parent, int color, int key,
                    const std::shared_ptr<Comm>& child) {
  std::shared_ptr<Comm> kept = color == kNoColor ? nullptr : parent;
  {
    const std::lock_guard lock(child->mutex);
    child->background =
        std::thread([kept = std::move(kept), from = parent.get(), to = child.get(), color, key] {
          static_cast<void>(split_purlin(*from, color, key, *to));
        });
  }
  if (color != kNoColor) return kInProgress;
  const std::lock_guard lock(parent->mutex);
  parent->leaving.push_back(child);
  return kSuccess;
}

Result split(CommHandle handle, int color, int key, CommHandle* out, Config* config) {
  Result why = kSuccess;
  const auto parent = find_ready(handle, &why);
  if (!parent) return why;
  if (out == nullptr) return fail(kInvalidArgument, "newcomm is null");
  *out = nullptr;
  if (color < 0 && color != kNoColor)
    return fail(kInvalidArgument, "color is " + std::to_string(color) +
                                      ", expected one from 0 on, or NCCL_SPLIT_NOCOLOR (-1)");
  Wishes wishes = parent->wishes;
  wishes.name.clear();
  if (const Result bad = read_config(config, &wishes); bad != kSuccess) return bad;
  const auto child = child_of(*parent, wishes);
  {
    const std::lock_guard lock(parent->mutex);
    const uint64_t what[] = {kBySplit, parent->splits++, static_cast<uint64_t>(color)};
    if (parent->seed) child->seed = derive(*parent->seed, what);
  }
  CommHandle made = nullptr;
  if (color != kNoColor) made = *out = publish(child);
  const bool later = in_group();
  const auto work = [=] {
    if (wishes.blocking) return split_purlin(*parent, color, key, *child);
    return split_behind(parent, color, key, child);
  };
  const Result result = parent->real != nullptr  // which has a group of its own
                            ? split_real(*parent, color, key, *child, config)
                            : together(parent, work);
  if (!later && result != kSuccess && result != kInProgress) {
    static_cast<void>(retire(made));
    *out = nullptr;
  }
  return result;
}

Result check_excluded(const Comm& comm, const std::vector<int>& excluded) {
  for (size_t i = 0; i < excluded.size(); ++i) {
    const std::string which = "excludeRanksList holds rank " + std::to_string(excluded[i]);
    if (excluded[i] < 0 || excluded[i] >= comm.nranks)
      return fail(kInvalidArgument, which + ", expected 0 to " + std::to_string(comm.nranks - 1));
    if (i > 0 && excluded[i] == excluded[i - 1]) return fail(kInvalidArgument, which + " twice");
    if (excluded[i] == comm.rank)
      return fail(kInvalidArgument, which + ", which is this one: only the ranks that stay call");
  }
  return kSuccess;
}

// The ranks that stay know the parent's seed and who goes, and meet under an id derived from both.
Result shrink(const std::shared_ptr<Comm>& parent, std::vector<int> excluded, CommHandle* out,
              const Config* config, int flags) {
  std::sort(excluded.begin(), excluded.end());
  if (const Result bad = check_excluded(*parent, excluded); bad != kSuccess) return bad;
  Membership m;
  m.nranks = parent->nranks - static_cast<int>(excluded.size());
  m.rank =
      parent->rank - static_cast<int>(std::count_if(excluded.begin(), excluded.end(),
                                                    [&](int rank) { return rank < parent->rank; }));
  m.device = parent->device;
  m.context = parent->context;
  m.wishes = parent->wishes;
  m.wishes.name.clear();
  if (parent->call_budget != 0) m.wishes.cta_budget = parent->call_budget;
  if (const Result bad = read_config(config, &m.wishes); bad != kSuccess) return bad;
  uint64_t gone = 0;  // at most PURLIN_MAX_RANKS ranks
  for (const int rank : excluded) gone |= uint64_t{1} << rank;
  std::optional<purlin_unique_id> id;
  {
    const std::lock_guard lock(parent->mutex);
    const uint64_t what[] = {kByShrink, gone, parent->shrinks[gone]++};
    if (parent->seed) id = derive(*parent->seed, what);
  }
  if (!id)
    return fail(kInternalError,
                "ncclCommShrink: this libnccl.so.2 does not know how the unique ids of "
                "this libpurlin are built; use both from one build");
  std::copy(std::begin(id->bytes), std::end(id->bytes), m.id.bytes);
  if (flags == kShrinkAbort) {
    const Result aborted = from_purlin(purlin_comm_abort(parent->purlin));
    if (aborted != kSuccess) return aborted;
  }
  return create(m, out);
}

Result shrink_real(Comm& parent, int* excluded, int count, CommHandle* out, Config* config,
                   int flags) {
  auto child = child_of(parent, parent.wishes);
  const Result result = parent.real->passed(
      parent.real->CommShrink(parent.real_comm, excluded, count, &child->real_comm, config, flags));
  if (result != kSuccess && result != kInProgress) return result;
  child->real = parent.real;
  child->state = State::kReady;
  *out = publish(std::move(child));
  return result;
}

}  // namespace
}  // namespace purlin::nccl

using namespace purlin::nccl;

PURLIN_NCCL_API(Result, CommSplit,
                (CommHandle comm, int color, int key, CommHandle* out, Config* config)) {
  return noted(split(comm, color, key, out, config));
}

PURLIN_NCCL_API(Result, CommShrink,
                (CommHandle handle, int* excluded, int count, CommHandle* out, Config* config,
                 int flags)) {
  Result why = kSuccess;
  const auto parent = find_ready(handle, &why);
  if (!parent) return noted(why);
  if (out == nullptr) return noted(fail(kInvalidArgument, "newcomm is null"));
  *out = nullptr;
  if (excluded == nullptr || count < 1)
    return noted(fail(kInvalidArgument, "excludeRanksList is null or excludeRanksCount is " +
                                            std::to_string(count) +
                                            ", expected at least one rank"));
  if (flags < 0 || flags > kShrinkAbort)
    return noted(
        fail(kInvalidArgument, "shrinkFlags is " + std::to_string(flags) + ", expected 0 or 1"));
  if (parent->real != nullptr)
    return noted(shrink_real(*parent, excluded, count, out, config, flags));
  return noted(shrink(parent, {excluded, excluded + count}, out, config, flags));
}
