// Makes a device current on the calling thread for a scope, and restores the caller's context
// after.
#pragma once

#include "device/cuda_device.h"

namespace purlin {

// Usage: ContextScope scope(device); PURLIN_RETURN_IF_ERROR(scope.status()); …
// Not copied, not moved; ends on the thread that began it.
class ContextScope {
 public:
  explicit ContextScope(const CudaDevice& device)
      : api_(device.api()), status_(api_.ctx_push_current(device.context())) {}
  ~ContextScope() {
    cu::Context popped = nullptr;
    if (status_.is_ok()) api_.raw().ctx_pop_current(&popped);
  }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;
  const Status& status() const { return status_; }

 private:
  const DriverApi& api_;
  Status status_;
};

// While it lives, calls of this thread that are unsafe during another thread's stream capture (such
// as allocation) neither fail nor invalidate that capture. Not for calls on the captured stream.
class RelaxedCaptureScope {
 public:
  explicit RelaxedCaptureScope(const DriverApi& api) : api_(api) {
    exchanged_ = api_.raw().thread_exchange_capture_mode(&mode_) == cu::kSuccess;
  }
  ~RelaxedCaptureScope() {
    if (exchanged_) api_.raw().thread_exchange_capture_mode(&mode_);
  }
  RelaxedCaptureScope(const RelaxedCaptureScope&) = delete;
  RelaxedCaptureScope& operator=(const RelaxedCaptureScope&) = delete;

 private:
  const DriverApi& api_;
  cu::CaptureMode mode_ = cu::kCaptureRelaxed;
  bool exchanged_ = false;
};

}  // namespace purlin
