// Memory, registration and preparation of purlin.h.
#include "memory/user_memory.h"

#include <span>

#include <fmt/format.h>

#include "api/answer.h"
#include "api/registration_handle.h"
#include "communicator/communicator.h"
#include "purlin/purlin.h"
#include "status/last_error.h"

namespace purlin {
namespace {

Result<void*> allocate(uint64_t bytes) {
  if (bytes == 0) return Status(PURLIN_INVALID_ARGUMENT, "bytes is 0, expected at least 1");
  const Result<const DriverApi*> api = driver();
  if (!api)
    return api.status().with_context("purlin_mem_alloc gives memory of a GPU; host ranks take any memory");
  auto device = CudaDevice::open(**api, -1);
  if (!device) return device.status();
  return allocate_user_memory(*std::move(device), bytes);
}

}  // namespace
}  // namespace purlin

using purlin::remember;

extern "C" {

purlin_status purlin_mem_alloc(void** out, uint64_t bytes) {
  if (out == nullptr) return remember(purlin::null_argument("out"));
  *out = nullptr;
  auto memory = purlin::allocate(bytes);
  if (!memory) return remember(memory.status());
  *out = *memory;
  return PURLIN_OK;
}

purlin_status purlin_mem_free(void* memory) { return remember(purlin::free_user_memory(memory)); }

purlin_status purlin_comm_register(purlin_comm_t comm, void* buffer, uint64_t bytes,
                                   purlin_registration_t* out) {
  if (out == nullptr) return remember(purlin::null_argument("out"));
  *out = nullptr;
  auto handle = purlin::ready_handle(comm);
  if (!handle) return remember(handle.status());
  auto registered = (*handle)->communicator->register_buffer(buffer, bytes);
  if (!registered) return remember(registered.status());
  *out = purlin::publish_registration(**handle, *registered);
  return PURLIN_OK;
}

purlin_status purlin_comm_deregister(purlin_comm_t comm, purlin_registration_t handle) {
  if (handle == nullptr) return remember(purlin::null_argument("handle"));
  auto owner = purlin::ready_handle(comm);
  if (!owner) return remember(owner.status());
  const auto number = purlin::take_registration(**owner, handle);
  if (!number) return remember(number.status());
  return remember((*owner)->communicator->deregister_buffer(*number));
}

purlin_status purlin_prepare(purlin_comm_t comm, const purlin_call* calls, int call_count) {
  if (call_count < 0)
    return remember(purlin::Status(PURLIN_INVALID_ARGUMENT,
                                   fmt::format("call_count is {}, expected 0 or more", call_count)));
  if (calls == nullptr && call_count > 0) return remember(purlin::null_argument("calls"));
  auto handle = purlin::ready_handle(comm);
  if (!handle) return remember(handle.status());
  return remember((*handle)->communicator->prepare_programs(
      std::span(calls, static_cast<size_t>(call_count))));
}

}  // extern "C"
