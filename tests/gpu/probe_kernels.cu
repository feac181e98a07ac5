// Kernels of the GPU tests of the device layer.

// Writes 2 * id when it begins and 2 * id + 1 when it ends, with `cycles` between, behind what earlier
// kernels wrote.
extern "C" __global__ void log_interval(unsigned long long* log, unsigned long long* cursor,
                                        unsigned long long id, long long cycles) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  log[atomicAdd(cursor, 1ull)] = 2 * id;
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
  log[atomicAdd(cursor, 1ull)] = 2 * id + 1;
}

// Polls a word until it is not zero, at most `cycles` long, and copies it.
extern "C" __global__ void await_word(volatile unsigned long long* word, unsigned long long* out,
                                      long long cycles) {
  const long long start = clock64();
  while (*word == 0 && clock64() - start < cycles) {
  }
  *out = *word;
}
