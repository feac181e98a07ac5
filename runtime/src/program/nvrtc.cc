#include "program/nvrtc.h"

#include <fmt/format.h>

namespace purlin {

// The few prototypes of nvrtc.h that are used, so that no toolkit is needed to build. A test
// compares them with the toolkit's.
struct Nvrtc::Calls {
  using Program = struct OpaqueNvrtcProgram*;
  const char* (*get_error_string)(int);
  int (*version)(int* major, int* minor);
  int (*create)(Program*, const char* source, const char* name, int headers, const char* const*,
                const char* const*);
  int (*destroy)(Program*);
  int (*compile)(Program, int options, const char* const*);
  int (*log_size)(Program, size_t*);
  int (*log)(Program, char*);
  int (*ltoir_size)(Program, size_t*);
  int (*ltoir)(Program, char*);
};

namespace {

Status failed(const char* call, const char* words, const std::string& path,
              const std::string& log) {
  return Status(
      PURLIN_LINK_ERROR,
      fmt::format("{} of {} failed: {}{}{}; the constants of a program could not be compiled, "
                  "install NVRTC of the same release as the linker",
                  call, path, words, log.empty() ? "" : "\n", log));
}

}  // namespace

Result<std::shared_ptr<const Nvrtc>> Nvrtc::open(const LibrarySearch& search) {
  auto library = SharedLibrary::open(fmt::format("libnvrtc.so.{}", toolkit_major()), search);
  if (!library) return library.status();
  auto calls = std::make_shared<Calls>();
  const char* missing = nullptr;
  const auto bind = [&](auto& pointer, const char* name) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(library->symbol(name));
    if (pointer == nullptr) missing = name;
  };
  bind(calls->get_error_string, "nvrtcGetErrorString");
  bind(calls->version, "nvrtcVersion");
  bind(calls->create, "nvrtcCreateProgram");
  bind(calls->destroy, "nvrtcDestroyProgram");
  bind(calls->compile, "nvrtcCompileProgram");
  bind(calls->log_size, "nvrtcGetProgramLogSize");
  bind(calls->log, "nvrtcGetProgramLog");
  bind(calls->ltoir_size, "nvrtcGetLTOIRSize");
  bind(calls->ltoir, "nvrtcGetLTOIR");
  if (missing != nullptr)
    return Status(PURLIN_LINK_ERROR,
                  fmt::format("{} has no function {}; it is not the NVRTC of CUDA {}",
                              library->path(), missing, toolkit_major()));
  auto out = std::make_shared<Nvrtc>();
  out->library_ = *library;
  out->file_ = SharedLibrary::file_of(reinterpret_cast<const void*>(calls->version));
  int major = 0, minor = 0;
  if (const int code = calls->version(&major, &minor); code != 0)
    return failed("nvrtcVersion", calls->get_error_string(code), out->file_, "");
  out->release_ = static_cast<CudaRelease>(major * 1000 + minor * 10);
  out->calls_ = std::move(calls);
  return std::shared_ptr<const Nvrtc>(std::move(out));
}

Result<std::vector<std::byte>> Nvrtc::compile(const std::string& source,
                                              const std::string& name) const {
  struct Guard {
    const Calls& calls;
    Calls::Program program = nullptr;
    ~Guard() {
      if (program != nullptr) calls.destroy(&program);
    }
  } guard{*calls_};
  const auto words = [&](int code) { return calls_->get_error_string(code); };
  if (const int code =
          calls_->create(&guard.program, source.c_str(), name.c_str(), 0, nullptr, nullptr);
      code != 0)
    return failed("nvrtcCreateProgram", words(code), file_, "");
  const char* options[] = {"-arch=compute_75", "-dlto", "-rdc=true", "-std=c++17"};
  if (const int code = calls_->compile(guard.program, 4, options); code != 0) {
    size_t size = 0;
    std::string log;
    if (calls_->log_size(guard.program, &size) == 0 && size > 1) {
      log.resize(size);
      if (calls_->log(guard.program, log.data()) != 0) log = "(its log could not be read)";
    }
    return failed("nvrtcCompileProgram", words(code), file_, log);
  }
  size_t size = 0;
  if (const int code = calls_->ltoir_size(guard.program, &size); code != 0)
    return failed("nvrtcGetLTOIRSize", words(code), file_, "");
  std::vector<std::byte> out(size);
  if (const int code = calls_->ltoir(guard.program, reinterpret_cast<char*>(out.data())); code != 0)
    return failed("nvrtcGetLTOIR", words(code), file_, "");
  return out;
}

}  // namespace purlin
