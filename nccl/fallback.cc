#include "nccl/fallback.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "nccl/errors.h"

namespace purlin::nccl {
namespace {

std::atomic<RealNccl*> opened_library{nullptr};

int number_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : 0;
}

}  // namespace

// Deepbind puts the library's own symbols in front of ours, which a preload has made the process's.
// A link namespace would do that too, but with a second driver library in it.
std::string RealNccl::open(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (library == nullptr) return std::string("PURLIN_NCCL_FALLBACK: ") + dlerror();
  void* ours = dlsym(RTLD_DEFAULT, "ncclGetVersion");
  if (ours != nullptr && ours == dlsym(library, "ncclGetVersion"))
    return std::string("PURLIN_NCCL_FALLBACK: ") + path + " is this library, not a real NCCL";
  std::string missing;
  const auto look_up = [&](const char* name, auto* function) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(library, name));
    if (*function == nullptr) missing += std::string(missing.empty() ? "" : ", ") + name;
  };
#define PURLIN_REAL_NCCL_LOOK_UP(name, parameters) look_up("nccl" #name, &name);
  PURLIN_REAL_NCCL(PURLIN_REAL_NCCL_LOOK_UP)
#undef PURLIN_REAL_NCCL_LOOK_UP
  look_up("ncclGetLastError", &GetLastError);
  if (missing.empty()) return {};
  return std::string("PURLIN_NCCL_FALLBACK: ") + path + " lacks " + missing +
         "; NCCL 2.28 or newer is needed";
}

RealNccl* RealNccl::get(std::string* why) {
  static std::string failure;
  static RealNccl* const instance = []() -> RealNccl* {
    const char* path = std::getenv("PURLIN_NCCL_FALLBACK");
    if (path == nullptr || *path == 0) return nullptr;
    auto* made = new RealNccl;
    failure = made->open(path);
    if (!failure.empty()) {
      delete made;
      return nullptr;
    }
    say(std::string("fallback: ") + path);
    opened_library = made;
    return made;
  }();
  *why = failure;
  return instance;
}

RealNccl* RealNccl::opened() { return opened_library; }

bool RealNccl::several_machines() {
  const std::pair<const char*, const char*> launchers[] = {
      {"WORLD_SIZE", "LOCAL_WORLD_SIZE"},
      {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
      {"PMI_SIZE", "MPI_LOCALNRANKS"},
  };
  for (const auto& [all, here] : launchers)
    if (number_of(here) > 0 && number_of(all) > number_of(here)) return true;
  return number_of("SLURM_STEP_NUM_NODES") > 1;
}

Result RealNccl::passed(Result result) const {
  if (result == kSuccess || result == kInProgress) return result;
  const char* text = GetLastError(nullptr);
  return fail(result, std::string("real NCCL: ") + (text != nullptr ? text : "no text"));
}

}  // namespace purlin::nccl
