// Compares device/driver_types.h with the toolkit's <cuda.h>, where there is one. Compiling is the
// test.
#include "device/driver_types.h"

#if __has_include(<cuda.h>)
#include <cuda.h>
#include <cudaTypedefs.h>

#include <type_traits>

namespace purlin {
namespace {

template <class Mine, class Theirs>
constexpr bool same_layout = sizeof(Mine) == sizeof(Theirs) && alignof(Mine) == alignof(Theirs);

static_assert(same_layout<cu::Device, CUdevice> && same_layout<cu::DevicePtr, CUdeviceptr>);
static_assert(same_layout<cu::MemHandle, CUmemGenericAllocationHandle>);
static_assert(same_layout<cu::Uuid, CUuuid> && same_layout<cu::IpcMemHandle, CUipcMemHandle>);
static_assert(same_layout<cu::MemLocation, CUmemLocation>);
static_assert(same_layout<cu::MemAllocationProp, CUmemAllocationProp>);
static_assert(offsetof(cu::MemAllocationProp, location) == offsetof(CUmemAllocationProp, location));
static_assert(offsetof(cu::MemAllocationProp, flags) == offsetof(CUmemAllocationProp, allocFlags));
static_assert(same_layout<cu::MemAccessDesc, CUmemAccessDesc>);
static_assert(same_layout<cu::MulticastProp, CUmulticastObjectProp>);
static_assert(offsetof(cu::MulticastProp, bytes) == offsetof(CUmulticastObjectProp, size));
static_assert(same_layout<cu::GraphEdgeData, CUgraphEdgeData>);
static_assert(same_layout<cu::LaunchAttribute, CUlaunchAttribute>);
static_assert(offsetof(cu::LaunchAttribute, value) == offsetof(CUlaunchAttribute, value));
static_assert(same_layout<cu::LaunchConfig, CUlaunchConfig>);
static_assert(offsetof(cu::LaunchConfig, stream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(cu::LaunchConfig, attributes) == offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(cu::LaunchConfig, attribute_count) == offsetof(CUlaunchConfig, numAttrs));

static_assert(cu::kSuccess == CUDA_SUCCESS && cu::kInvalidValue == CUDA_ERROR_INVALID_VALUE);
static_assert(cu::kOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(cu::kNotInitialized == CUDA_ERROR_NOT_INITIALIZED);
static_assert(cu::kDeinitialized == CUDA_ERROR_DEINITIALIZED);
static_assert(cu::kStubLibrary == CUDA_ERROR_STUB_LIBRARY && cu::kNoDevice == CUDA_ERROR_NO_DEVICE);
static_assert(cu::kInvalidDevice == CUDA_ERROR_INVALID_DEVICE);
static_assert(cu::kInvalidImage == CUDA_ERROR_INVALID_IMAGE);
static_assert(cu::kInvalidContext == CUDA_ERROR_INVALID_CONTEXT);
static_assert(cu::kNoBinaryForGpu == CUDA_ERROR_NO_BINARY_FOR_GPU);
static_assert(cu::kEccUncorrectable == CUDA_ERROR_ECC_UNCORRECTABLE);
static_assert(cu::kPeerAccessUnsupported == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
static_assert(cu::kNvlinkUncorrectable == CUDA_ERROR_NVLINK_UNCORRECTABLE);
static_assert(cu::kInvalidHandle == CUDA_ERROR_INVALID_HANDLE &&
              cu::kNotFound == CUDA_ERROR_NOT_FOUND);
static_assert(cu::kNotReady == CUDA_ERROR_NOT_READY);
static_assert(cu::kIllegalAddress == CUDA_ERROR_ILLEGAL_ADDRESS);
static_assert(cu::kPeerAccessAlreadyEnabled == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
static_assert(cu::kLaunchFailed == CUDA_ERROR_LAUNCH_FAILED);
static_assert(cu::kNotPermitted == CUDA_ERROR_NOT_PERMITTED);
static_assert(cu::kNotSupported == CUDA_ERROR_NOT_SUPPORTED);
static_assert(cu::kSystemNotReady == CUDA_ERROR_SYSTEM_NOT_READY);
static_assert(cu::kSystemDriverMismatch == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
static_assert(cu::kCaptureUnsupported == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
static_assert(cu::kCaptureInvalidated == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
static_assert(cu::kUnknown == CUDA_ERROR_UNKNOWN);

#define PURLIN_SAME(mine, theirs) \
  static_assert(static_cast<int>(cu::mine) == static_cast<int>(theirs))
PURLIN_SAME(kMaxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
PURLIN_SAME(kMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
PURLIN_SAME(kComputeMode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
PURLIN_SAME(kComputeCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
PURLIN_SAME(kComputeCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
PURLIN_SAME(kMaxSharedPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
PURLIN_SAME(kVirtualMemorySupported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
PURLIN_SAME(kPosixFdSupported, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
PURLIN_SAME(kMemSyncDomainCount, CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT);
PURLIN_SAME(kMulticastSupported, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED);
PURLIN_SAME(kMpsEnabled, CU_DEVICE_ATTRIBUTE_MPS_ENABLED);
PURLIN_SAME(kPerformanceRank, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK);
PURLIN_SAME(kAccessSupported, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED);
PURLIN_SAME(kNativeAtomicSupported, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED);
PURLIN_SAME(kPointerMemoryType, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
PURLIN_SAME(kPointerBufferId, CU_POINTER_ATTRIBUTE_BUFFER_ID);
PURLIN_SAME(kPointerIsManaged, CU_POINTER_ATTRIBUTE_IS_MANAGED);
PURLIN_SAME(kPointerDeviceOrdinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
PURLIN_SAME(kPointerIsLegacyIpcCapable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE);
PURLIN_SAME(kPointerRangeStart, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
PURLIN_SAME(kPointerRangeSize, CU_POINTER_ATTRIBUTE_RANGE_SIZE);
PURLIN_SAME(kPointerAllowedHandleTypes, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES);
PURLIN_SAME(kPointerMemPool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE);
PURLIN_SAME(kPointerMappingSize, CU_POINTER_ATTRIBUTE_MAPPING_SIZE);
PURLIN_SAME(kPointerMappingBase, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR);
PURLIN_SAME(kPointerMemoryBlockId, CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID);
PURLIN_SAME(kMemoryTypeHost, CU_MEMORYTYPE_HOST);
PURLIN_SAME(kMemoryTypeDevice, CU_MEMORYTYPE_DEVICE);
PURLIN_SAME(kLocationDevice, CU_MEM_LOCATION_TYPE_DEVICE);
PURLIN_SAME(kHandleTypePosixFd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
PURLIN_SAME(kAllocationPinned, CU_MEM_ALLOCATION_TYPE_PINNED);
PURLIN_SAME(kGranularityMinimum, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
PURLIN_SAME(kGranularityRecommended, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
PURLIN_SAME(kAccessReadWrite, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
PURLIN_SAME(kHostAllocPortable, CU_MEMHOSTALLOC_PORTABLE);
PURLIN_SAME(kHostAllocDeviceMap, CU_MEMHOSTALLOC_DEVICEMAP);
PURLIN_SAME(kHostRegisterPortable, CU_MEMHOSTREGISTER_PORTABLE);
PURLIN_SAME(kHostRegisterDeviceMap, CU_MEMHOSTREGISTER_DEVICEMAP);
PURLIN_SAME(kIpcLazyPeerAccess, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
PURLIN_SAME(kStreamNonBlocking, CU_STREAM_NON_BLOCKING);
PURLIN_SAME(kEventDisableTiming, CU_EVENT_DISABLE_TIMING);
PURLIN_SAME(kEventExternal, CU_EVENT_RECORD_EXTERNAL);
PURLIN_SAME(kEventExternal, CU_EVENT_WAIT_EXTERNAL);
PURLIN_SAME(kCaptureNone, CU_STREAM_CAPTURE_STATUS_NONE);
PURLIN_SAME(kCaptureActive, CU_STREAM_CAPTURE_STATUS_ACTIVE);
PURLIN_SAME(kCaptureInvalid, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
PURLIN_SAME(kCaptureGlobal, CU_STREAM_CAPTURE_MODE_GLOBAL);
PURLIN_SAME(kCaptureThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
PURLIN_SAME(kCaptureRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
PURLIN_SAME(kAddCaptureDependencies, CU_STREAM_ADD_CAPTURE_DEPENDENCIES);
PURLIN_SAME(kSetCaptureDependencies, CU_STREAM_SET_CAPTURE_DEPENDENCIES);
PURLIN_SAME(kFunctionMaxThreads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
PURLIN_SAME(kFunctionStaticShared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
PURLIN_SAME(kFunctionLocalBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
PURLIN_SAME(kFunctionRegisters, CU_FUNC_ATTRIBUTE_NUM_REGS);
PURLIN_SAME(kFunctionMaxDynamicShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
PURLIN_SAME(kFunctionSharedCarveout, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
PURLIN_SAME(kLaunchProgrammaticSerialization,
            CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
PURLIN_SAME(kLaunchMemSyncDomain, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN);
PURLIN_SAME(kLaunchCompletionEvent, CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT);
PURLIN_SAME(kMemSyncDomainDefault, CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT);
PURLIN_SAME(kMemSyncDomainRemote, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
#undef PURLIN_SAME

// Each call's parameters, by number, size and whether they are pointers, against the toolkit's type
// for the same symbol and version.
template <class Mine, class Theirs>
struct SameCall : std::false_type {};
template <class... Mine, class... Theirs>
struct SameCall<cu::Code (*)(Mine...), CUresult (*)(Theirs...)> {
  template <class A, class B>
  static constexpr bool alike =
      sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;
  static constexpr bool check() {
    if constexpr (sizeof...(Mine) != sizeof...(Theirs)) {
      return false;
    } else {
      return (alike<Mine, Theirs> && ...);
    }
  }
  static constexpr bool value = check();
};

#define PURLIN_DRIVER_CALL(name, symbol, version, parameters, names)                \
  static_assert(SameCall<cu::Code(*) parameters, PFN_##symbol##_v##version>::value, \
                #symbol " differs from the toolkit's declaration");
#include "device/driver_calls.inc"
#undef PURLIN_DRIVER_CALL

}  // namespace
}  // namespace purlin
#endif
