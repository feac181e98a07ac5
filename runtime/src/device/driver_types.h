// The CUDA driver's types, as far as Purlin uses them, declared here so that neither the toolkit's
// headers nor its libraries are needed to build or to load libpurlin. Layouts and values are the
// driver's binary interface; tests/runtime/device/driver_types_check.cc compares them with <cuda.h>
// where a toolkit is present.
#pragma once

#include <cstddef>
#include <cstdint>

namespace purlin::cu {

// A CUresult. An int, so that values unknown to this header pass through unchanged.
using Code = int;
inline constexpr Code kSuccess = 0;
inline constexpr Code kInvalidValue = 1;
inline constexpr Code kOutOfMemory = 2;
inline constexpr Code kNotInitialized = 3;
inline constexpr Code kDeinitialized = 4;
inline constexpr Code kStubLibrary = 34;
inline constexpr Code kNoDevice = 100;
inline constexpr Code kInvalidDevice = 101;
inline constexpr Code kInvalidImage = 200;
inline constexpr Code kInvalidContext = 201;
inline constexpr Code kNoBinaryForGpu = 209;
inline constexpr Code kEccUncorrectable = 214;
inline constexpr Code kPeerAccessUnsupported = 217;
inline constexpr Code kNvlinkUncorrectable = 220;
inline constexpr Code kInvalidHandle = 400;
inline constexpr Code kNotFound = 500;
inline constexpr Code kNotReady = 600;
inline constexpr Code kIllegalAddress = 700;
inline constexpr Code kPeerAccessAlreadyEnabled = 704;
inline constexpr Code kLaunchFailed = 719;
inline constexpr Code kNotPermitted = 800;
inline constexpr Code kNotSupported = 801;
inline constexpr Code kSystemNotReady = 802;
inline constexpr Code kSystemDriverMismatch = 803;
inline constexpr Code kCaptureUnsupported = 900;
inline constexpr Code kCaptureInvalidated = 901;
inline constexpr Code kUnknown = 999;

using Device = int;
using DevicePtr = unsigned long long;
using MemHandle = unsigned long long;  // CUmemGenericAllocationHandle
using Context = struct CUctx_st*;
using Stream = struct CUstream_st*;
using Event = struct CUevent_st*;
using Library = struct CUlib_st*;
using Kernel = struct CUkern_st*;
using Function = struct CUfunc_st*;
using Graph = struct CUgraph_st*;
using GraphNode = struct CUgraphNode_st*;
using GraphExec = struct CUgraphExec_st*;
using MemPool = struct CUmemPoolHandle_st*;

struct Uuid {
  unsigned char bytes[16];
};

struct IpcMemHandle {
  unsigned char reserved[64];
};

enum DeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kMultiprocessorCount = 16,
  kComputeMode = 20,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kMaxSharedPerBlockOptin = 97,
  kVirtualMemorySupported = 102,
  kPosixFdSupported = 103,
  kMemSyncDomainCount = 126,
  kMulticastSupported = 132,
  kMpsEnabled = 133,
};

enum P2PAttribute : int {
  kPerformanceRank = 1,
  kAccessSupported = 2,
  kNativeAtomicSupported = 3,
};

enum PointerAttribute : int {
  kPointerMemoryType = 2,
  kPointerBufferId = 7,
  kPointerIsManaged = 8,
  kPointerDeviceOrdinal = 9,
  kPointerIsLegacyIpcCapable = 10,
  kPointerRangeStart = 11,
  kPointerRangeSize = 12,
  kPointerAllowedHandleTypes = 14,
  kPointerMemPool = 17,
  kPointerMappingSize = 18,
  kPointerMappingBase = 19,
  kPointerMemoryBlockId = 20,
};

inline constexpr unsigned kMemoryTypeHost = 1;
inline constexpr unsigned kMemoryTypeDevice = 2;

inline constexpr int kLocationDevice = 1;
inline constexpr int kHandleTypePosixFd = 1;
inline constexpr int kAllocationPinned = 1;
inline constexpr int kGranularityMinimum = 0;
inline constexpr int kGranularityRecommended = 1;
inline constexpr int kAccessReadWrite = 3;

struct MemLocation {
  int type;
  int id;
};

struct MemAllocationProp {
  int type;
  int requested_handle_types;
  MemLocation location;
  void* win32_metadata;
  struct {
    unsigned char compression;
    unsigned char gpu_direct_rdma;
    unsigned short usage;
    unsigned char reserved[4];
  } flags;
};

struct MemAccessDesc {
  MemLocation location;
  int flags;
};

struct MulticastProp {
  unsigned devices;
  size_t bytes;
  unsigned long long handle_types;
  unsigned long long flags;
};

inline constexpr unsigned kHostAllocPortable = 1;
inline constexpr unsigned kHostAllocDeviceMap = 2;
inline constexpr unsigned kHostRegisterPortable = 1;
inline constexpr unsigned kHostRegisterDeviceMap = 2;
inline constexpr unsigned kIpcLazyPeerAccess = 1;

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr unsigned kEventExternal = 1;  // CU_EVENT_RECORD_EXTERNAL, CU_EVENT_WAIT_EXTERNAL

enum CaptureStatus : int { kCaptureNone = 0, kCaptureActive = 1, kCaptureInvalid = 2 };
enum CaptureMode : int { kCaptureGlobal = 0, kCaptureThreadLocal = 1, kCaptureRelaxed = 2 };
inline constexpr unsigned kAddCaptureDependencies = 0;
inline constexpr unsigned kSetCaptureDependencies = 1;

struct GraphEdgeData {
  unsigned char from_port;
  unsigned char to_port;
  unsigned char type;
  unsigned char reserved[5];
};

enum FunctionAttribute : int {
  kFunctionMaxThreads = 0,
  kFunctionStaticShared = 1,
  kFunctionLocalBytes = 3,
  kFunctionRegisters = 4,
  kFunctionMaxDynamicShared = 8,
  kFunctionSharedCarveout = 9,
};

enum LaunchAttributeId : int {
  kLaunchProgrammaticSerialization = 6,
  kLaunchMemSyncDomain = 10,
  kLaunchCompletionEvent = 12,
};
inline constexpr int kMemSyncDomainDefault = 0;
inline constexpr int kMemSyncDomainRemote = 1;

union LaunchAttributeValue {
  char pad[64];
  int programmatic_serialization;
  int mem_sync_domain;
  struct {
    Event event;
    int flags;
  } launch_completion;
};

struct LaunchAttribute {
  LaunchAttributeId id;
  char pad[8 - sizeof(LaunchAttributeId)];
  LaunchAttributeValue value;
};

struct LaunchConfig {
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

static_assert(sizeof(MemAllocationProp) == 32);
static_assert(sizeof(MemAccessDesc) == 12);
static_assert(sizeof(GraphEdgeData) == 8);
static_assert(sizeof(LaunchAttribute) == 72 && offsetof(LaunchAttribute, value) == 8);
static_assert(sizeof(LaunchConfig) == 56 && offsetof(LaunchConfig, stream) == 32);

}  // namespace purlin::cu
