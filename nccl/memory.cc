// ncclMemAlloc, registration and windows.
#include <cstdlib>
#include <mutex>
#include <unordered_set>

#include "nccl/driver.h"
#include "nccl/errors.h"
#include "nccl/fallback.h"
#include "nccl/group.h"

namespace purlin::nccl {
namespace {

constexpr size_t kPage = 4096;

// What ncclMemAlloc gave to host ranks.
struct HostMemory {
  std::mutex mutex;
  std::unordered_set<void*> blocks;
};
HostMemory& host_memory() {
  static HostMemory* const instance = new HostMemory;
  return *instance;
}

Result host_alloc(void** out, size_t bytes) {
  *out = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  if (*out == nullptr)
    return fail(kSystemError, "ncclMemAlloc: no memory for " + std::to_string(bytes) + " bytes");
  const std::lock_guard lock(host_memory().mutex);
  host_memory().blocks.insert(*out);
  return kSuccess;
}

bool host_free(void* memory) {
  const std::lock_guard lock(host_memory().mutex);
  if (host_memory().blocks.erase(memory) == 0) return false;
  std::free(memory);
  return true;
}

uint64_t note_range(Comm& comm) {
  const std::lock_guard lock(comm.mutex);
  const uint64_t number = comm.next_registration++;
  comm.registrations.emplace(number, nullptr);
  return number;
}

// Shares the range with all ranks; memory for which there is no way stays a note. A note that is gone
// was deregistered in the group that registers: the other ranks have to be heard all the same.
Result share(Comm& comm, uint64_t number, void* buffer, size_t bytes, bool* shared) {
  purlin_registration_t made = nullptr;
  const purlin_status status = purlin_comm_register(comm.purlin, buffer, bytes, &made);
  *shared = status == PURLIN_OK;
  if (status == PURLIN_UNSUPPORTED) {
    static_cast<void>(
        fail(kInvalidUsage, std::string("registered memory is staged: ") + purlin_last_error()));
    return kSuccess;
  }
  if (status != PURLIN_OK) return from_purlin(status);
  {
    const std::lock_guard lock(comm.mutex);
    const auto note = comm.registrations.find(number);
    if (note != comm.registrations.end()) {
      note->second = made;
      return kSuccess;
    }
  }
  return from_purlin(purlin_comm_deregister(comm.purlin, made));
}

Result check_range(const void* buffer, size_t bytes, const void* out) {
  if (out == nullptr) return fail(kInvalidArgument, "the place for the handle is null");
  if (buffer == nullptr) return fail(kInvalidArgument, "the buffer is null");
  if (bytes == 0) return fail(kInvalidArgument, "size is 0, expected at least 1");
  return kSuccess;
}

Result forget(CommHandle handle, uint64_t number, const char* what) {
  Result why = kSuccess;
  const auto comm = find(handle, &why);
  if (!comm) return noted(why);
  purlin_registration_t made = nullptr;
  {
    const std::lock_guard lock(comm->mutex);
    auto node = comm->registrations.extract(number);
    if (node.empty() && comm->state == State::kFinalized) return kSuccess;  // given back by it
    if (node.empty())
      return noted(fail(kInvalidArgument, std::string(what) +
                                              " is not registered with this communicator, or was "
                                              "deregistered already"));
    made = node.mapped();
  }
  return made == nullptr ? kSuccess
                         : noted(from_purlin(purlin_comm_deregister(comm->purlin, made)));
}

}  // namespace
}  // namespace purlin::nccl

using namespace purlin::nccl;

PURLIN_NCCL_API(Result, MemAlloc, (void** out, size_t bytes)) {
  if (out == nullptr) return fail(kInvalidArgument, "ptr is null");
  *out = nullptr;
  if (bytes == 0) return kSuccess;  // null, which ncclMemFree takes
  if (host_ranks()) return host_alloc(out, bytes);
  return from_purlin(purlin_mem_alloc(out, bytes));
}

PURLIN_NCCL_API(Result, MemFree, (void* memory)) {
  if (memory == nullptr || host_free(memory)) return kSuccess;
  return from_purlin(purlin_mem_free(memory));
}

PURLIN_NCCL_API(Result, CommRegister, (CommHandle handle, void* buffer, size_t bytes, void** out)) {
  Result why = kSuccess;
  const auto comm = find_ready(handle, &why);
  if (!comm) return noted(why);
  if (comm->real != nullptr)
    return noted(comm->real->passed(comm->real->CommRegister(comm->real_comm, buffer, bytes, out)));
  if (const Result bad = check_range(buffer, bytes, out); bad != kSuccess) return noted(bad);
  const uint64_t number = note_range(*comm);
  *out = reinterpret_cast<void*>(number);
  return noted(together_if_complete(comm, [comm, number, buffer, bytes] {
    bool shared = false;
    return share(*comm, number, buffer, bytes, &shared);
  }));
}

PURLIN_NCCL_API(Result, CommDeregister, (CommHandle handle, void* registration)) {
  Result why = kSuccess;
  const auto comm = find(handle, &why);
  if (comm && comm->real != nullptr)
    return comm->real->passed(comm->real->CommDeregister(comm->real_comm, registration));
  return forget(handle, reinterpret_cast<uint64_t>(registration), "handle");
}

PURLIN_NCCL_API(Result, CommWindowRegister,
                (CommHandle handle, void* buffer, size_t bytes, WindowHandle* out, int flags)) {
  Result why = kSuccess;
  const auto comm = find_ready(handle, &why);
  if (!comm) return noted(why);
  if (comm->real != nullptr)
    return noted(comm->real->passed(
        comm->real->CommWindowRegister(comm->real_comm, buffer, bytes, out, flags)));
  if (const Result bad = check_range(buffer, bytes, out); bad != kSuccess) return noted(bad);
  if (flags < 0 || flags > 1)
    return noted(
        fail(kInvalidArgument, "winFlags is " + std::to_string(flags) + ", expected 0 or 1"));
  *out = nullptr;
  return noted(together(comm, [comm, buffer, bytes, out] {
    const uint64_t number = note_range(*comm);
    bool shared = false;
    const Result result = share(*comm, number, buffer, bytes, &shared);
    if (shared) {
      *out = reinterpret_cast<WindowHandle>(number);
    } else {
      const std::lock_guard lock(comm->mutex);
      comm->registrations.erase(number);
    }
    return result;
  }));
}

PURLIN_NCCL_API(Result, CommWindowDeregister, (CommHandle handle, WindowHandle window)) {
  Result why = kSuccess;
  const auto comm = find(handle, &why);
  if (comm && comm->real != nullptr)
    return comm->real->passed(comm->real->CommWindowDeregister(comm->real_comm, window));
  if (comm && window == nullptr) return kSuccess;
  return forget(handle, reinterpret_cast<uint64_t>(window), "win");
}
