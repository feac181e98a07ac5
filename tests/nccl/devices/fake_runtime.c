/* A CUDA runtime with one device, for the test of several_devices.c: does nothing, refuses other
 * devices. */
enum { kInvalidDevice = 101 };

static int last_set = -1;

static int check(int device) { return device == 0 ? 0 : kInvalidDevice; }

int cudaGetDeviceCount(int* count) { return *count = 1, 0; }
int cudaSetDevice(int device) { return last_set = device, check(device); }
int cudaGetDevice(int* device) { return *device = last_set, 0; }
int cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
  return (void)device_flags, (void)flags, check(device);
}
int cudaGetDeviceProperties(void* properties, int device) {
  return (void)properties, check(device);
}
int cudaGetDeviceProperties_v2(void* properties, int device) {
  return (void)properties, check(device);
}
int cudaDeviceGetAttribute(int* value, int attribute, int device) {
  return *value = attribute, check(device);
}
int cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return (void)text, (void)length, check(device);
}

/* Streams are numbers from 1 on; waited() tells which were waited for, in order, as digits. */
static long streams_made;
static int waits;

static int make_stream(void** stream) { return *stream = (void*)++streams_made, 0; }
int cudaStreamCreate(void** stream) { return make_stream(stream); }
int cudaStreamCreateWithFlags(void** stream, unsigned flags) {
  return (void)flags, make_stream(stream);
}
int cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  return (void)flags, (void)priority, make_stream(stream);
}
int cudaStreamDestroy(void* stream) { return (void)stream, 0; }
int cudaStreamSynchronize(void* stream) { return waits = 10 * waits + (int)(long)stream, 0; }
int cudaDeviceSynchronize(void) { return kInvalidDevice; }
int waited(void) {
  const int all = waits;
  return waits = 0, all;
}
