#include "library.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

namespace purlin::test {
namespace {

Library open_library() {
  setenv("PURLIN_NCCL_DEVICE", "host", 1);
  void* handle = dlopen(PURLIN_BINARY_DIR "/lib/libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::abort();
  }
  Library library;
  const auto look_up = [handle](const char* name) {
    void* address = dlsym(handle, name);
    if (address == nullptr) {
      std::fprintf(stderr, "libnccl.so.2 lacks %s\n", name);
      std::abort();
    }
    return address;
  };
#define PURLIN_TEST_NCCL_LOOK_UP(result, name, parameters) \
  library.name = reinterpret_cast<result(*) parameters>(look_up("nccl" #name));
  PURLIN_TEST_NCCL(PURLIN_TEST_NCCL_LOOK_UP)
#undef PURLIN_TEST_NCCL_LOOK_UP
  return library;
}

}  // namespace

const Library& lib() {
  static const Library library = open_library();
  return library;
}

WholeConfig default_config() {
  WholeConfig config{};
  config.known.size = sizeof config;
  config.known.magic = kConfigMagic;
  config.known.version = kVersion;
  config.known.blocking = config.known.cluster_size = config.known.min_ctas =
      config.known.max_ctas = config.known.split_share = config.known.traffic_class = kUndefined;
  for (int& member : config.later) member = 12345;  // of whatever meaning
  return config;
}

Ranks::Ranks(int n) : comms_(static_cast<size_t>(n)) {
  UniqueId id;
  REQUIRE(lib().GetUniqueId(&id) == kSuccess);
  REQUIRE(lib().GroupStart() == kSuccess);
  for (int r = 0; r < n; ++r)
    REQUIRE(lib().CommInitRank(&comms_[static_cast<size_t>(r)], n, id, r) == kSuccess);
  const Result made = lib().GroupEnd();
  REQUIRE_MESSAGE(made == kSuccess, last_text());
}

Ranks::~Ranks() {
  for (CommHandle comm : comms_)
    if (comm != nullptr) CHECK(lib().CommDestroy(comm) == kSuccess);
}

Result Ranks::group(const std::function<Result(int)>& call) const {
  REQUIRE(lib().GroupStart() == kSuccess);
  for (int r = 0; r < size(); ++r) {
    const Result result = call(r);
    CHECK_MESSAGE(result == kSuccess, last_text());
  }
  return lib().GroupEnd();
}

Result wait_until_settled(CommHandle comm) {
  Result state = kInProgress;
  while (state == kInProgress) {
    if (const Result asked = lib().CommGetAsyncError(comm, &state); asked != kSuccess) return asked;
    std::this_thread::yield();
  }
  return state;
}

}  // namespace purlin::test
