// A stand-in for NVRTC: "compiles" any source to a few bytes. FAKE_COMPILER_RELEASE as in
// fake_nvjitlink.cc.
#include <stdlib.h>

#include <cstddef>
#include <cstring>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {
struct Program {};
constexpr char kIr[] = "LTO-IR";
}  // namespace

EXPORT const char* nvrtcGetErrorString(int) { return "NVRTC_ERROR_OF_THE_STAND_IN"; }

EXPORT int nvrtcVersion(int* major, int* minor) {
  const char* text = getenv("FAKE_COMPILER_RELEASE");
  const int release = text != nullptr ? atoi(text) : 13000;
  *major = release / 1000;
  *minor = release % 1000 / 10;
  return 0;
}

EXPORT int nvrtcCreateProgram(Program** out, const char*, const char*, int, const char* const*,
                              const char* const*) {
  *out = new Program;
  return 0;
}

EXPORT int nvrtcDestroyProgram(Program** program) {
  delete *program;
  *program = nullptr;
  return 0;
}

EXPORT int nvrtcCompileProgram(Program*, int, const char* const*) { return 0; }

EXPORT int nvrtcGetProgramLogSize(Program*, size_t* size) {
  *size = 1;
  return 0;
}

EXPORT int nvrtcGetProgramLog(Program*, char* log) {
  *log = 0;
  return 0;
}

EXPORT int nvrtcGetLTOIRSize(Program*, size_t* size) {
  *size = sizeof(kIr);
  return 0;
}

EXPORT int nvrtcGetLTOIR(Program*, char* out) {
  std::memcpy(out, kIr, sizeof(kIr));
  return 0;
}
