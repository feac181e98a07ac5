// The binary interface of NCCL 2.28.9, as programs built against it use it: sizes, values and order
// of members are fixed.
#pragma once

#include <cstddef>
#include <cstdint>

// Opaque handles. A communicator's is a number, not an address (comm.h).
struct ncclComm;
struct ncclWindow_vidmem;

namespace purlin::nccl {

using CommHandle = ncclComm*;
using WindowHandle = ncclWindow_vidmem*;
using Stream = void*;  // cudaStream_t

constexpr int kVersion = 22809;

enum Result : int {
  kSuccess = 0,
  kUnhandledCudaError = 1,
  kSystemError = 2,
  kInternalError = 3,
  kInvalidArgument = 4,
  kInvalidUsage = 5,
  kRemoteError = 6,
  kInProgress = 7,
};

// Passed by value.
struct UniqueId {
  char bytes[128];
};

// Reductions below kFirstOwnOp are built in; the others were made for one communicator.
enum Op : int { kSum = 0, kProd = 1, kMax = 2, kMin = 3, kAvg = 4, kFirstOwnOp = 5 };

// Element types have the numbers of purlin_dtype.
using Dtype = int;

enum ScalarPlace : int { kScalarOnDevice = 0, kScalarOnHost = 1 };

constexpr int kUndefined = INT32_MIN;  // of an int that the caller left open
constexpr int kNoColor = -1;
constexpr int kShrinkAbort = 1;  // flag: end the parent's operations first

// `size` bytes were given; members beyond it are not there, and what lies beyond ours is not read.
struct Config {
  size_t size;
  uint32_t magic;  // kConfigMagic
  uint32_t version;
  int blocking;
  int cluster_size;
  int min_ctas;
  int max_ctas;
  const char* network;
  int split_share;
  int traffic_class;
  const char* name;
};
constexpr uint32_t kConfigMagic = 0xcafebeef;

// Ranks first + i * stride of a communicator; returned by value.
struct Team {
  int ranks;
  int rank;
  int stride;
};

}  // namespace purlin::nccl

// Defines the exported function nccl`name` and its twin pnccl`name`; the body follows.
#define PURLIN_NCCL_API(result, name, parameters)                                 \
  extern "C" __attribute__((visibility("default"))) result nccl##name parameters; \
  extern "C" __attribute__((visibility("default"), alias("nccl" #name)))          \
  result pnccl##name parameters;                                                  \
  extern "C" result nccl##name parameters
