#include "nccl/errors.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace purlin::nccl {
namespace {

constexpr const char* kNone = "no error";

struct Shared {
  std::mutex mutex;
  std::string text = kNone;
};

// Never destroyed: programs call from destructors that run while the process ends.
Shared& shared() {
  static Shared* const instance = new Shared;
  return *instance;
}

std::string& own_text() {
  thread_local std::string text;
  return text;
}

bool debug_from_environment() {
  const char* value = std::getenv("PURLIN_DEBUG");
  return value != nullptr && std::string(value) == "info";
}

std::atomic<bool>& debug_flag() {
  static std::atomic<bool> flag{debug_from_environment()};
  return flag;
}

}  // namespace

Result fail(Result code, const std::string& text) {
  own_text() = text;
  {
    const std::lock_guard lock(shared().mutex);
    shared().text = text;
  }
  say("error " + std::to_string(code) + ": " + text);
  return code;
}

Result code_of(purlin_status status) {
  switch (status) {
    case PURLIN_OK:
      return kSuccess;
    case PURLIN_INVALID_ARGUMENT:
      return kInvalidArgument;
    case PURLIN_INVALID_USAGE:
    case PURLIN_UNSUPPORTED:
    case PURLIN_POLICY_ERROR:
    case PURLIN_BROKEN:
    case PURLIN_MISMATCH:
      return kInvalidUsage;
    case PURLIN_SYSTEM_ERROR:
    case PURLIN_OUT_OF_MEMORY:
    case PURLIN_PLUGIN_ERROR:
    case PURLIN_LINK_ERROR:
      return kSystemError;
    case PURLIN_CUDA_ERROR:
      return kUnhandledCudaError;
    case PURLIN_TIMEOUT:
    case PURLIN_PEER_LOST:
    case PURLIN_ABORTED:
      return kRemoteError;
    case PURLIN_IN_PROGRESS:
      return kInProgress;
    case PURLIN_INTERNAL:
      return kInternalError;
  }
  return kInternalError;
}

Result from_purlin(purlin_status status) {
  const Result code = code_of(status);
  if (code == kSuccess || code == kInProgress) return code;
  return fail(code, std::string(purlin_status_name(status)) + ": " + purlin_last_error());
}

const char* last_error() {
  if (!own_text().empty()) return own_text().c_str();
  thread_local std::string copy;
  const std::lock_guard lock(shared().mutex);
  copy = shared().text;
  return copy.c_str();
}

const std::string& own_error() { return own_text(); }
void repeat(const std::string& text) { own_text() = text; }

bool debug() { return debug_flag(); }
void read_debug() { debug_flag() = debug_from_environment(); }

void say(const std::string& line) {
  if (debug()) std::fprintf(stderr, "purlin (libnccl.so.2): %s\n", line.c_str());
}

}  // namespace purlin::nccl
