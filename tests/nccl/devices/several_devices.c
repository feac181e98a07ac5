/* Preload: shows the CUDA runtime's first device as PURLIN_SEVERAL_DEVICES (8 if unset) devices, so
 * that programs which want several run on one. Each thread has a current number of its own;
 * everything else happens on device 0. Waiting for a device means waiting for the streams that were
 * made for its number and for the default stream: the one real device is also busy with kernels of
 * other numbers, and those may be waiting for this very thread. Serves programs that use the shared
 * CUDA runtime. No CUDA header is needed: the runtime's results are ints, its structures pointers. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kSuccess = 0, kOutOfMemory = 2, kInvalidDevice = 101, kMaxStreams = 1024 };

static _Thread_local int current;

static int device_count(void) {
  const char* text = getenv("PURLIN_SEVERAL_DEVICES");
  const int count = text != NULL ? atoi(text) : 8;
  return count > 0 ? count : 1;
}

static int exists(int device) { return device >= 0 && device < device_count(); }

static void* next(const char* name) {
  void* function = dlsym(RTLD_NEXT, name);
  if (function == NULL) {
    fprintf(stderr, "several_devices: the CUDA runtime behind this preload has no %s\n", name);
    abort();
  }
  return function;
}

int cudaGetDeviceCount(int* count) {
  const int code = ((int (*)(int*))next("cudaGetDeviceCount"))(count);
  if (code == kSuccess && *count > 0) *count = device_count();
  return code;
}

int cudaSetDevice(int device) {
  if (!exists(device)) return kInvalidDevice;
  const int code = ((int (*)(int))next("cudaSetDevice"))(0);
  if (code == kSuccess) current = device;
  return code;
}

int cudaGetDevice(int* device) {
  const int code = ((int (*)(int*))next("cudaGetDevice"))(device);
  if (code == kSuccess) *device = current;
  return code;
}

int cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
  if (!exists(device)) return kInvalidDevice;
  return ((int (*)(int, unsigned, unsigned))next("cudaInitDevice"))(0, device_flags, flags);
}

int cudaGetDeviceProperties(void* properties, int device) {
  if (!exists(device)) return kInvalidDevice;
  return ((int (*)(void*, int))next("cudaGetDeviceProperties"))(properties, 0);
}

/* Of CUDA 12, which renamed the function. */
int cudaGetDeviceProperties_v2(void* properties, int device) {
  if (!exists(device)) return kInvalidDevice;
  return ((int (*)(void*, int))next("cudaGetDeviceProperties_v2"))(properties, 0);
}

int cudaDeviceGetAttribute(int* value, int attribute, int device) {
  if (!exists(device)) return kInvalidDevice;
  return ((int (*)(int*, int, int))next("cudaDeviceGetAttribute"))(value, attribute, 0);
}

int cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (!exists(device)) return kInvalidDevice;
  return ((int (*)(char*, int, int))next("cudaDeviceGetPCIBusId"))(text, length, 0);
}

int cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!exists(device) || !exists(peer)) return kInvalidDevice;
  *can = device != peer;
  return kSuccess;
}

int cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  (void)flags;
  return exists(peer) && peer != current ? kSuccess : kInvalidDevice;
}

int cudaDeviceDisablePeerAccess(int peer) {
  return exists(peer) && peer != current ? kSuccess : kInvalidDevice;
}

static struct {
  void* stream;
  int device;
} streams[kMaxStreams];
static pthread_mutex_t streams_lock = PTHREAD_MUTEX_INITIALIZER;

/* Replaces `from` by `to` in the list of streams; what is free is NULL. */
static int replace_stream(void* from, void* to) {
  int found = 0;
  pthread_mutex_lock(&streams_lock);
  for (int i = 0; i < kMaxStreams && !found; ++i) {
    if (streams[i].stream != from) continue;
    streams[i].stream = to;
    streams[i].device = current;
    found = 1;
  }
  pthread_mutex_unlock(&streams_lock);
  return found;
}

static int remember(int code, void** stream) {
  if (code != kSuccess || replace_stream(NULL, *stream)) return code;
  fprintf(stderr, "several_devices: more than %d streams at once\n", kMaxStreams);
  return kOutOfMemory;
}

int cudaStreamCreate(void** stream) {
  return remember(((int (*)(void**))next("cudaStreamCreate"))(stream), stream);
}

int cudaStreamCreateWithFlags(void** stream, unsigned flags) {
  return remember(((int (*)(void**, unsigned))next("cudaStreamCreateWithFlags"))(stream, flags),
                  stream);
}

int cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  int (*const create)(void**, unsigned, int) =
      (int (*)(void**, unsigned, int))next("cudaStreamCreateWithPriority");
  return remember(create(stream, flags, priority), stream);
}

int cudaStreamDestroy(void* stream) {
  replace_stream(stream, NULL);
  return ((int (*)(void*))next("cudaStreamDestroy"))(stream);
}

int cudaDeviceSynchronize(void) {
  int (*const wait)(void*) = (int (*)(void*))next("cudaStreamSynchronize");
  int code = wait(NULL);
  for (int i = 0; i < kMaxStreams && code == kSuccess; ++i) {
    pthread_mutex_lock(&streams_lock);
    void* const stream = streams[i].device == current ? streams[i].stream : NULL;
    pthread_mutex_unlock(&streams_lock);
    if (stream != NULL) code = wait(stream);
  }
  return code;
}
