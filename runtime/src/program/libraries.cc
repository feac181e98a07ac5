#include "program/libraries.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <climits>

#ifndef PURLIN_CUDA_RELEASE
#define PURLIN_CUDA_RELEASE 13000  // built without a toolkit: the release of the documented set-up
#endif

namespace purlin {
namespace {

std::string canonical(const std::string& path) {
  char buffer[PATH_MAX];
  return realpath(path.c_str(), buffer) != nullptr ? buffer : path;
}

}  // namespace

uint32_t toolkit_major() { return cuda_major(PURLIN_CUDA_RELEASE); }

LibrarySearch default_library_search() {
  LibrarySearch out{{""}};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* value = secure_getenv(variable);
    if (value != nullptr && value[0] == '/') out.folders.push_back(std::string(value) + "/lib64");
  }
  out.folders.push_back("/usr/local/cuda/lib64");
  const auto last = std::unique(out.folders.begin(), out.folders.end());
  out.folders.erase(last, out.folders.end());
  return out;
}

Result<SharedLibrary> SharedLibrary::open(const std::string& soname, const LibrarySearch& search) {
  std::string tried;
  for (const auto& folder : search.folders) {
    const std::string path = folder.empty() ? soname : folder + "/" + soname;
    SharedLibrary out;
    out.handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (out.handle_ != nullptr) {
      out.path_ = path;
      return out;
    }
    const char* why = dlerror();
    tried += fmt::format("\n  {}: {}", folder.empty() ? "the loader's search path" : folder,
                         why != nullptr ? why : "dlopen says nothing");
  }
  if (tried.empty()) tried = "\n  no folder was given to look in";
  return Status(PURLIN_LINK_ERROR, fmt::format("{} cannot be opened, tried:{}", soname, tried));
}

void* SharedLibrary::symbol(const char* name) const { return dlsym(handle_, name); }

std::string SharedLibrary::file_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? canonical(info.dli_fname) : "";
}

}  // namespace purlin
