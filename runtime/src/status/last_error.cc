#include "status/last_error.h"

namespace purlin {
namespace {
thread_local std::string last_message = "no error";
}

purlin_status remember(const Status& status) {
  if (!status.is_ok()) last_message = status.message();
  return status.code();
}

}  // namespace purlin

extern "C" const char* purlin_last_error(void) { return purlin::last_message.c_str(); }

extern "C" const char* purlin_status_name(purlin_status status) {
  switch (status) {
    case PURLIN_OK: return "PURLIN_OK";
    case PURLIN_INVALID_ARGUMENT: return "PURLIN_INVALID_ARGUMENT";
    case PURLIN_INVALID_USAGE: return "PURLIN_INVALID_USAGE";
    case PURLIN_UNSUPPORTED: return "PURLIN_UNSUPPORTED";
    case PURLIN_POLICY_ERROR: return "PURLIN_POLICY_ERROR";
    case PURLIN_PLUGIN_ERROR: return "PURLIN_PLUGIN_ERROR";
    case PURLIN_OUT_OF_MEMORY: return "PURLIN_OUT_OF_MEMORY";
    case PURLIN_SYSTEM_ERROR: return "PURLIN_SYSTEM_ERROR";
    case PURLIN_CUDA_ERROR: return "PURLIN_CUDA_ERROR";
    case PURLIN_LINK_ERROR: return "PURLIN_LINK_ERROR";
    case PURLIN_TIMEOUT: return "PURLIN_TIMEOUT";
    case PURLIN_PEER_LOST: return "PURLIN_PEER_LOST";
    case PURLIN_MISMATCH: return "PURLIN_MISMATCH";
    case PURLIN_ABORTED: return "PURLIN_ABORTED";
    case PURLIN_BROKEN: return "PURLIN_BROKEN";
    case PURLIN_IN_PROGRESS: return "PURLIN_IN_PROGRESS";
    case PURLIN_INTERNAL: return "PURLIN_INTERNAL";
  }
  return "unknown purlin_status";
}
