// purlin_comm_*: creation, splitting, destruction and what can be asked.
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "api/answer.h"
#include "api/handle.h"
#include "api/setup.h"
#include "status/last_error.h"

namespace purlin {
namespace {

// A setup that outlives the caller's options, for creation in the background.
struct OwnedSetup {
  CommunicatorSetup setup;
  std::string policy_path, policy_text;

  explicit OwnedSetup(const CommunicatorSetup& from) : setup(from) {
    if (from.options.policy_path != nullptr) policy_path = from.options.policy_path;
    if (from.options.policy_text != nullptr) policy_text = from.options.policy_text;
    setup.options.policy_path = from.options.policy_path != nullptr ? policy_path.c_str() : nullptr;
    setup.options.policy_text = from.options.policy_text != nullptr ? policy_text.c_str() : nullptr;
    setup.options.unique_id = nullptr;
    setup.options.name = nullptr;
  }
};

void create_behind(Handle* handle, CommunicatorSetup setup) {
  auto owned = std::make_shared<OwnedSetup>(setup);
  owned->setup.cancelled = &handle->cancelled;
  handle->pending = true;
  handle->creator = std::thread([handle, owned] {
    auto made = Communicator::create(owned->setup);
    if (made) handle->communicator = *std::move(made);
    else handle->creation = made.status();
    handle->pending = false;
    // An abort that came behind the creation's last look at `cancelled`.
    if (handle->aborted && handle->communicator) handle->communicator->abort();
  });
}

Status create(const purlin_comm_options* options, purlin_comm_t* out) {
  auto setup = setup_from(options);
  if (!setup) return setup.status();
  auto handle = std::make_unique<Handle>();
  if (options->nonblocking != 0) {
    create_behind(handle.get(), *setup);
    *out = publish(std::move(handle));
    return Status(PURLIN_IN_PROGRESS, "the communicator is being created");
  }
  auto made = Communicator::create(*setup);
  if (!made) return made.status();
  handle->communicator = *std::move(made);
  *out = publish(std::move(handle));
  return {};
}

// One thread a rank: creation is collective.
Status create_all(purlin_comm_t* out, int nranks, const int* devices,
                  const purlin_comm_options& options) {
  purlin_unique_id id;
  if (purlin_get_unique_id(&id) != PURLIN_OK) return Status(PURLIN_SYSTEM_ERROR, purlin_last_error());
  std::vector<Status> statuses(static_cast<size_t>(nranks));
  std::vector<std::thread> threads;
  for (int r = 0; r < nranks; ++r) {
    threads.emplace_back([&, r] {
      purlin_comm_options own = options;
      own.nranks = nranks;
      own.rank = r;
      own.unique_id = &id;
      own.nonblocking = 0;
      own.device_kind = devices != nullptr ? PURLIN_DEVICE_CUDA : PURLIN_DEVICE_HOST;
      if (devices != nullptr) own.device_ordinal = devices[r];
      statuses[static_cast<size_t>(r)] = create(&own, &out[r]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& status : statuses) {
    if (status.is_ok()) continue;
    for (int r = 0; r < nranks; ++r)
      if (out[r] != nullptr) retire(out[r]);
    std::fill(out, out + nranks, nullptr);
    return status;
  }
  return {};
}

}  // namespace
}  // namespace purlin

using purlin::remember;
using purlin::Status;

extern "C" {

purlin_status purlin_comm_create(purlin_comm_t* out, const purlin_comm_options* options) {
  if (out == nullptr) return remember(purlin::null_argument("out"));
  *out = nullptr;
  return remember(purlin::create(options, out));
}

purlin_status purlin_comm_create_all(purlin_comm_t* out, int nranks, const int* devices,
                                     const purlin_comm_options* options) {
  if (out == nullptr) return remember(purlin::null_argument("out"));
  if (options == nullptr) return remember(purlin::null_argument("options"));
  if (nranks < 1 || nranks > PURLIN_MAX_RANKS)
    return remember(Status(PURLIN_INVALID_ARGUMENT, fmt::format("nranks is {}, expected 1 to {}",
                                                                nranks, PURLIN_MAX_RANKS)));
  std::fill(out, out + nranks, nullptr);
  return remember(purlin::create_all(out, nranks, devices, *options));
}

purlin_status purlin_comm_split(purlin_comm_t comm, int color, int key, purlin_comm_t* out) {
  if (out == nullptr) return remember(purlin::null_argument("out"));
  *out = nullptr;
  auto handle = purlin::ready_handle(comm);
  if (!handle) return remember(handle.status());
  auto made = (*handle)->communicator->split(color, key);
  if (!made) return remember(made.status());
  if (*made == nullptr) return PURLIN_OK;
  auto child = std::make_unique<purlin::Handle>();
  child->communicator = *std::move(made);
  *out = purlin::publish(std::move(child));
  return PURLIN_OK;
}

purlin_status purlin_comm_destroy(purlin_comm_t comm) {
  if (purlin::retire(comm) == nullptr)
    return remember(Status(PURLIN_INVALID_ARGUMENT,
                           "comm is no communicator: it was never created, or it was destroyed already"));
  return PURLIN_OK;
}

purlin_status purlin_comm_abort(purlin_comm_t comm) {
  std::shared_ptr<purlin::Handle> handle = purlin::find_handle(comm);
  if (handle && handle->pending) {
    handle->aborted = true;  // before `cancelled`: the creator may end at once
    handle->cancelled = true;
    if (handle->pending) return PURLIN_OK;  // else it may have ended without having seen either
  }
  auto ready = purlin::ready_handle(comm);
  if (!ready) return remember(ready.status());
  (*ready)->communicator->abort();
  return PURLIN_OK;
}

purlin_status purlin_comm_rank(purlin_comm_t comm, int* rank) {
  if (rank == nullptr) return remember(purlin::null_argument("rank"));
  auto handle = purlin::ready_handle(comm);
  if (!handle) return remember(handle.status());
  *rank = (*handle)->communicator->rank();
  return PURLIN_OK;
}

purlin_status purlin_comm_size(purlin_comm_t comm, int* nranks) {
  if (nranks == nullptr) return remember(purlin::null_argument("nranks"));
  auto handle = purlin::ready_handle(comm);
  if (!handle) return remember(handle.status());
  *nranks = (*handle)->communicator->size();
  return PURLIN_OK;
}

purlin_status purlin_comm_device(purlin_comm_t comm, int* kind, int* ordinal) {
  if (kind == nullptr) return remember(purlin::null_argument("kind"));
  if (ordinal == nullptr) return remember(purlin::null_argument("ordinal"));
  auto handle = purlin::ready_handle(comm);
  if (!handle) return remember(handle.status());
  *kind = (*handle)->communicator->device_kind();
  *ordinal = (*handle)->communicator->device_ordinal();
  return PURLIN_OK;
}

purlin_status purlin_comm_async_error(purlin_comm_t comm) {
  auto handle = purlin::ready_handle(comm);
  if (!handle) return remember(handle.status());
  const Status status = (*handle)->communicator->broken();
  if (!status.is_ok()) {
    const std::lock_guard lock((*handle)->text_mutex);
    (*handle)->last_error = status.message();
  }
  return remember(status);
}

const char* purlin_comm_last_error(purlin_comm_t comm) {
  std::shared_ptr<purlin::Handle> handle = purlin::find_handle(comm);
  if (!handle) return "no such communicator";
  (void)purlin_comm_async_error(comm);  // brings the text up to date
  const std::lock_guard lock(handle->text_mutex);
  return handle->last_error.c_str();
}

}  // extern "C"
