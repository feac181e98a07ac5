// Versions, texts and groups: functions that belong to no communicator.
#include "nccl/errors.h"
#include "nccl/fallback.h"
#include "nccl/group.h"

using namespace purlin::nccl;

PURLIN_NCCL_API(Result, GetVersion, (int* version)) {
  if (version == nullptr) return fail(kInvalidArgument, "version is null");
  *version = kVersion;
  return kSuccess;
}

PURLIN_NCCL_API(const char*, GetErrorString, (Result result)) {
  switch (result) {
    case kSuccess:
      return "success";
    case kUnhandledCudaError:
      return "a call of the CUDA driver failed (ncclGetLastError has the text)";
    case kSystemError:
      return "a call of the operating system failed or a part could not be loaded "
             "(ncclGetLastError "
             "has the text)";
    case kInternalError:
      return "internal error of Purlin (ncclGetLastError has the text)";
    case kInvalidArgument:
      return "invalid argument (ncclGetLastError has the text)";
    case kInvalidUsage:
      return "invalid usage (ncclGetLastError has the text)";
    case kRemoteError:
      return "another rank failed, is gone or did not arrive (ncclGetLastError has the text)";
    case kInProgress:
      return "still in progress";
  }
  return "no result code of NCCL";
}

PURLIN_NCCL_API(const char*, GetLastError, (CommHandle handle)) {
  Result why = kSuccess;
  const auto comm = handle == nullptr ? nullptr : find(handle, &why);
  if (comm && comm->real == nullptr) {
    const std::lock_guard lock(comm->mutex);
    const bool broken = comm->state == State::kReady && comm->purlin != nullptr &&
                        purlin_comm_async_error(comm->purlin) != PURLIN_OK;
    if (broken) return purlin_comm_last_error(comm->purlin);
  }
  return last_error();
}

PURLIN_NCCL_API(void, ResetDebugInit, ()) { read_debug(); }

PURLIN_NCCL_API(Result, GroupStart, ()) {
  start_group();
  return kSuccess;
}

PURLIN_NCCL_API(Result, GroupEnd, ()) { return end_group(); }

PURLIN_NCCL_API(Result, GroupSimulateEnd, (void*)) {
  drop_group();
  return fail(
      kInvalidUsage,
      "ncclGroupSimulateEnd is not offered: Purlin estimates no times; the group is closed and "
      "none of its calls was carried out. Use ncclGroupEnd");
}
