// What an application does with a communicator ahead of its calls.
#include <vector>

#include <fmt/format.h>

#include "communicator/communicator.h"
#include "communicator/cuda_grid.h"
#include "communicator/policy_programs.h"
#include "snac/window.h"

namespace purlin {
namespace {

// `call` with addresses, which are never touched, in place of null.
purlin_call with_buffers(const purlin_call& call) {
  purlin_call made = call;
  if (made.send == nullptr) made.send = reinterpret_cast<const void*>(uintptr_t{1} << 40);
  if (made.recv == nullptr) made.recv = reinterpret_cast<void*>(uintptr_t{1} << 46);
  return made;
}

Status check_range(const void* buffer, uint64_t bytes) {
  if (buffer == nullptr || bytes == 0)
    return {PURLIN_INVALID_ARGUMENT,
            fmt::format("buffer is {} and bytes is {}; register memory that is there", buffer,
                        bytes)};
  const auto address = reinterpret_cast<uint64_t>(buffer);
  if (address + bytes < address)
    return {PURLIN_INVALID_ARGUMENT,
            fmt::format("a buffer at {} of {} bytes goes beyond the end of the address space; "
                        "register memory that is there",
                        buffer, bytes)};
  if (bytes > snac::kMostWindowBytes)
    return {PURLIN_INVALID_ARGUMENT,
            fmt::format("bytes is {}, and a registered buffer has at most {} bytes; register the "
                        "part that calls use",
                        bytes, snac::kMostWindowBytes)};
  return {};
}

}  // namespace

Result<uint32_t> Communicator::register_buffer(void* buffer, uint64_t bytes) {
  const std::lock_guard lock(call_mutex_);
  PURLIN_RETURN_IF_ERROR(tell_if_stopped());
  auto number = open_window(buffer, bytes);
  if (!number) return cause_of(number.status());
  return number;
}

Result<uint32_t> Communicator::open_window(void* buffer, uint64_t bytes) {
  PURLIN_RETURN_IF_ERROR(rendezvous_->agree(check_range(buffer, bytes)));
  const auto number = windows_.open(buffer, bytes, name_, *backend_, *rendezvous_);
  if (!number) return number.status();
  const Status ready = use_windows();
  if (!ready) {
    static_cast<void>(windows_.close(*number, *backend_));
    return ready;
  }
  return *number;
}

// Has calls use windows once there are any: what an earlier attempt did not finish is done again.
Status Communicator::use_windows() {
  if (windows_.used() && !wire_.windows) {
    PURLIN_RETURN_IF_ERROR(make_window_programs());
    wire_.windows = true;
  }
  repeated_.forget();
  return rendezvous_->park();
}

Status Communicator::deregister_buffer(uint32_t number) {
  const std::lock_guard lock(call_mutex_);
  backend_->drain();
  return windows_.close(number, *backend_);
}

// Those of the policy, for calls that may use windows. Loading may wait for the device, and so for
// kernels that wait for peers: no rank runs any then.
Status Communicator::make_window_programs() {
  if (device_ == nullptr) return {};
  backend_->drain();
  PURLIN_RETURN_IF_ERROR(rendezvous_->barrier());
  return rendezvous_->agree(backend_->make_programs(
      window_programs_of(programs_of(policy_.policy, *choices_, *wire_.limits, size(),
                                     wire_.switch_limits))));
}

Status Communicator::prepare_programs(std::span<const purlin_call> calls) {
  const std::lock_guard lock(call_mutex_);
  PURLIN_RETURN_IF_ERROR(tell_if_stopped());
  std::vector<ProgramNeed> needs;
  for (const purlin_call& given : calls) {
    if (given.struct_size < sizeof given)
      return Status(PURLIN_INVALID_ARGUMENT,
                    fmt::format("purlin_call.struct_size is {}, expected {}: start from PURLIN_INIT",
                                given.struct_size, sizeof given));
    const purlin_call call = with_buffers(given);
    auto facts = check_call(call, size(), rank());
    if (!facts) return facts.status();
    auto launch = prepare(*facts);
    if (!launch) return launch.status();
    const bool scaled = (*launch)->params.scaled != 0;
    if ((*launch)->packets)
      needs.push_back(need_of(ProtocolKernel::kLatency, (*launch)->form, (*launch)->constants, scaled));
    if ((*launch)->switched)
      needs.push_back(need_of(ProtocolKernel::kSwitch, (*launch)->form, (*launch)->constants, scaled));
    if ((*launch)->chunks)
      needs.push_back(
          need_of(ProtocolKernel::kThroughput, (*launch)->form, (*launch)->constants, scaled));
  }
  return backend_->make_programs(needs);
}

}  // namespace purlin
