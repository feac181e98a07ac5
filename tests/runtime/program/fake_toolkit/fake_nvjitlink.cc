// A stand-in for nvJitLink: joins nothing, hands out a prepared cubin and notes each link, so that
// the ladder is tested on machines without a toolkit. Told what to do by environment variables:
//   FAKE_LINKER_RELEASE  major * 1000 + minor * 10 (default 13000)
//   FAKE_LINKER_CUBIN    file whose bytes every link gives
//   FAKE_LINKER_LOG      file to which every link appends one byte
//   FAKE_LINKER_FAILS    set: every link fails
//   FAKE_LINKER_MS       how long a link takes
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {
struct Link {
  std::string cubin;
};
constexpr int kFailed = 6;
constexpr char kLog[] = "the stand-in was told to fail";
}  // namespace

EXPORT int nvJitLinkVersion(unsigned* major, unsigned* minor) {
  const char* text = getenv("FAKE_LINKER_RELEASE");
  const int release = text != nullptr ? atoi(text) : 13000;
  *major = static_cast<unsigned>(release / 1000);
  *minor = static_cast<unsigned>(release % 1000 / 10);
  return 0;
}

EXPORT int nvJitLinkCreate(Link** out, uint32_t, const char* const*) {
  *out = new Link;
  return 0;
}

EXPORT int nvJitLinkDestroy(Link** link) {
  delete *link;
  *link = nullptr;
  return 0;
}

EXPORT int nvJitLinkAddData(Link*, int, const void*, size_t, const char*) { return 0; }

EXPORT int nvJitLinkComplete(Link* link) {
  if (const char* log = getenv("FAKE_LINKER_LOG")) {
    const int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || write(fd, "L", 1) != 1) return kFailed;
    close(fd);
  }
  if (const char* text = getenv("FAKE_LINKER_MS"))
    std::this_thread::sleep_for(std::chrono::milliseconds(atoi(text)));
  if (getenv("FAKE_LINKER_FAILS") != nullptr) return kFailed;
  const char* path = getenv("FAKE_LINKER_CUBIN");
  std::ifstream file(path != nullptr ? path : "", std::ios::binary);
  link->cubin.assign(std::istreambuf_iterator<char>(file), {});
  return link->cubin.empty() ? kFailed : 0;
}

EXPORT int nvJitLinkGetErrorLogSize(Link*, size_t* size) {
  *size = sizeof(kLog);
  return 0;
}

EXPORT int nvJitLinkGetErrorLog(Link*, char* log) {
  std::memcpy(log, kLog, sizeof(kLog));
  return 0;
}

EXPORT int nvJitLinkGetLinkedCubinSize(Link* link, size_t* size) {
  *size = link->cubin.size();
  return 0;
}

EXPORT int nvJitLinkGetLinkedCubin(Link* link, void* out) {
  std::memcpy(out, link->cubin.data(), link->cubin.size());
  return 0;
}

EXPORT int nvJitLinkGetLinkedPtxSize(Link*, size_t* size) {
  *size = 4;
  return 0;
}

EXPORT int nvJitLinkGetLinkedPtx(Link*, char* out) {
  std::memcpy(out, "ptx", 4);
  return 0;
}
