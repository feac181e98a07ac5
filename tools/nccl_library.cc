#include "tools/nccl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace purlin::tools {

Outcome<std::unique_ptr<const NcclLibrary>> NcclLibrary::open(const std::string& file) {
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return Error{
        fmt::format("NCCL cannot be opened: {}; name its library with --nccl PATH", dlerror())};
  std::unique_ptr<NcclLibrary> library(new NcclLibrary);
  const auto find = [&](auto& slot, const char* symbol) {
    slot = reinterpret_cast<std::decay_t<decltype(slot)>>(dlsym(handle, symbol));
    return slot != nullptr;
  };
#define CALL(name, symbol, parameters) \
  if (!find(library->name, #symbol))   \
    return Error{fmt::format("{} has no {}: it is no NCCL, or one that is too old", file, #symbol)};
  PURLIN_TOOLS_NCCL_CALLS(CALL)
#undef CALL
#define CALL(name, symbol, parameters) find(library->name, #symbol);
  PURLIN_TOOLS_NCCL_OPTIONAL_CALLS(CALL)
#undef CALL
  find(library->error_string_, "ncclGetErrorString");
  return std::unique_ptr<const NcclLibrary>(std::move(library));
}

std::string NcclLibrary::version() const {
  int number = 0;
  if (get_version(&number) != 0) return "unknown";
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

Done NcclLibrary::check(const char* what, int result) const {
  if (result == 0) return done();
  return Error{fmt::format("{} failed with {} ({})", what,
                           error_string_ ? error_string_(result) : "an error", result)};
}

}  // namespace purlin::tools
