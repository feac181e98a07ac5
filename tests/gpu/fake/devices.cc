// Start-up, devices and contexts of the fake driver.
#include <cstdio>
#include <cstring>

#include "gpu/fake/state.h"

namespace purlin::test::fake {
namespace {

thread_local std::vector<cu::Context> stack;

// A context is the address of its device's slot; 64 devices are more than any test has.
char context_slots[64];

cu::Context context_of(int device) { return reinterpret_cast<cu::Context>(&context_slots[device]); }

int device_of(cu::Context context) {
  return static_cast<int>(reinterpret_cast<char*>(context) - context_slots);
}

bool exists(cu::Device device) { return device >= 0 && device < state().setup.devices; }

}  // namespace

int current_device() {
  if (stack.empty() || stack.back() == nullptr) return -1;
  const int device = device_of(stack.back());
  return state().contexts[device] > 0 ? device : -1;
}

namespace impl {

cu::Code init(unsigned) {
  state().initialized = true;
  return state().setup.devices > 0 ? cu::kSuccess : cu::kNoDevice;
}

cu::Code driver_get_version(int* out) {
  *out = state().setup.driver_version;
  return cu::kSuccess;
}

cu::Code get_error_name(cu::Code code, const char** out) {
  switch (code) {
    case cu::kInvalidValue:
      *out = "CUDA_ERROR_INVALID_VALUE";
      return cu::kSuccess;
    case cu::kOutOfMemory:
      *out = "CUDA_ERROR_OUT_OF_MEMORY";
      return cu::kSuccess;
    case cu::kInvalidContext:
      *out = "CUDA_ERROR_INVALID_CONTEXT";
      return cu::kSuccess;
    case cu::kNotSupported:
      *out = "CUDA_ERROR_NOT_SUPPORTED";
      return cu::kSuccess;
    case cu::kCaptureUnsupported:
      *out = "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED";
      return cu::kSuccess;
    default:
      *out = nullptr;
      return cu::kInvalidValue;
  }
}

cu::Code get_error_string(cu::Code code, const char** out) {
  *out = code == cu::kOutOfMemory ? "out of memory" : "as the name says";
  return cu::kSuccess;
}

cu::Code device_get_count(int* out) {
  *out = state().setup.devices;
  return cu::kSuccess;
}

cu::Code device_get(cu::Device* out, int ordinal) {
  if (!exists(ordinal)) return cu::kInvalidDevice;
  *out = ordinal;
  return cu::kSuccess;
}

cu::Code device_get_uuid(cu::Uuid* out, cu::Device device) {
  if (!exists(device)) return cu::kInvalidDevice;
  std::memset(out, 0xa0 + device, sizeof(*out));
  return cu::kSuccess;
}

cu::Code device_get_attribute(int* out, cu::DeviceAttribute attribute, cu::Device device) {
  if (!exists(device)) return cu::kInvalidDevice;
  const FakeSetup& setup = state().setup;
  switch (attribute) {
    case cu::kMaxThreadsPerBlock:
      *out = 1024;
      return cu::kSuccess;
    case cu::kMultiprocessorCount:
      *out = setup.multiprocessors;
      return cu::kSuccess;
    case cu::kComputeMode:
      *out = 0;
      return cu::kSuccess;
    case cu::kComputeCapabilityMajor:
      *out = 9;
      return cu::kSuccess;
    case cu::kComputeCapabilityMinor:
      *out = 0;
      return cu::kSuccess;
    case cu::kMaxSharedPerBlockOptin:
      *out = 232448;
      return cu::kSuccess;
    case cu::kVirtualMemorySupported:
      *out = 1;
      return cu::kSuccess;
    case cu::kPosixFdSupported:
      *out = setup.posix_fd ? 1 : 0;
      return cu::kSuccess;
    case cu::kMemSyncDomainCount:
      *out = setup.sync_domains;
      return cu::kSuccess;
    case cu::kMulticastSupported:
      *out = 1;
      return cu::kSuccess;
    case cu::kMpsEnabled:
      *out = setup.mps ? 1 : 0;
      return cu::kSuccess;
  }
  return cu::kInvalidValue;
}

cu::Code device_get_name(char* out, int bytes, cu::Device device) {
  if (!exists(device)) return cu::kInvalidDevice;
  std::snprintf(out, static_cast<size_t>(bytes), "Fake H200");
  return cu::kSuccess;
}

cu::Code device_total_mem(size_t* out, cu::Device device) {
  *out = state().setup.memory_bytes;
  return exists(device) ? cu::kSuccess : cu::kInvalidDevice;
}

cu::Code device_can_access_peer(int* out, cu::Device device, cu::Device peer) {
  if (!exists(device) || !exists(peer)) return cu::kInvalidDevice;
  *out = device != peer && state().setup.peer_access ? 1 : 0;
  return cu::kSuccess;
}

cu::Code device_get_p2p_attribute(int* out, cu::P2PAttribute attribute, cu::Device from,
                                  cu::Device to) {
  if (!exists(from) || !exists(to) || from == to) return cu::kInvalidDevice;
  const FakeSetup& setup = state().setup;
  switch (attribute) {
    case cu::kPerformanceRank:
      *out = setup.nvlink ? 0 : 1;
      return cu::kSuccess;
    case cu::kAccessSupported:
      *out = setup.peer_access ? 1 : 0;
      return cu::kSuccess;
    case cu::kNativeAtomicSupported:
      *out = setup.nvlink ? 1 : 0;
      return cu::kSuccess;
  }
  return cu::kInvalidValue;
}

cu::Code primary_ctx_retain(cu::Context* out, cu::Device device) {
  if (!exists(device)) return cu::kInvalidDevice;
  ++state().contexts[device];
  *out = context_of(device);
  return cu::kSuccess;
}

cu::Code primary_ctx_release(cu::Device device) {
  if (!exists(device) || state().contexts[device] == 0) return cu::kInvalidContext;
  --state().contexts[device];
  return cu::kSuccess;
}

cu::Code primary_ctx_get_state(cu::Device device, unsigned* flags, int* active) {
  if (!exists(device)) return cu::kInvalidDevice;
  *flags = 0;
  *active = state().contexts[device] > 0 ? 1 : 0;
  return cu::kSuccess;
}

cu::Code ctx_get_current(cu::Context* out) {
  *out = stack.empty() ? nullptr : stack.back();
  return cu::kSuccess;
}

cu::Code ctx_set_current(cu::Context context) {
  if (stack.empty()) stack.push_back(context);
  stack.back() = context;
  return cu::kSuccess;
}

cu::Code ctx_push_current(cu::Context context) {
  if (context == nullptr || state().contexts[device_of(context)] == 0) return cu::kInvalidContext;
  stack.push_back(context);
  return cu::kSuccess;
}

cu::Code ctx_pop_current(cu::Context* out) {
  if (stack.empty()) return cu::kInvalidContext;
  *out = stack.back();
  stack.pop_back();
  return cu::kSuccess;
}

cu::Code ctx_get_device(cu::Device* out) {
  if (current_device() < 0) return cu::kInvalidContext;
  *out = current_device();
  return cu::kSuccess;
}

cu::Code ctx_synchronize() { return forbid_in_capture(); }

cu::Code ctx_enable_peer_access(cu::Context peer, unsigned) {
  if (current_device() < 0) return cu::kInvalidContext;
  if (!state().setup.peer_access) return cu::kPeerAccessUnsupported;
  static std::set<std::pair<int, int>> enabled;
  return enabled.emplace(current_device(), device_of(peer)).second ? cu::kSuccess
                                                                   : cu::kPeerAccessAlreadyEnabled;
}

}  // namespace impl
}  // namespace purlin::test::fake
