#include "program/nvjitlink.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "program/link_failure.h"

namespace purlin {

// The few prototypes of nvJitLink.h that are used, so that no toolkit is needed to build.
struct NvJitLink::Calls {
  using Handle = struct OpaqueNvJitLink*;
  int (*version)(unsigned* major, unsigned* minor);
  int (*create)(Handle*, uint32_t options, const char* const*);
  int (*destroy)(Handle*);
  int (*add_data)(Handle, int type, const void* data, size_t size, const char* name);
  int (*complete)(Handle);
  int (*error_log_size)(Handle, size_t*);
  int (*error_log)(Handle, char*);
  int (*cubin_size)(Handle, size_t*);
  int (*cubin)(Handle, void*);
  int (*ptx_size)(Handle, size_t*);
  int (*ptx)(Handle, char*);
};

namespace {

int type_of(LinkInput::What what) {
  switch (what) {
    case LinkInput::What::kCubin:
      return kNvJitLinkInputCubin;
    case LinkInput::What::kLtoIr:
      return kNvJitLinkInputLtoIr;
    case LinkInput::What::kFatbin:
      return kNvJitLinkInputFatbin;
  }
  return 0;
}

}  // namespace

Result<std::shared_ptr<const NvJitLink>> NvJitLink::open(const LibrarySearch& search) {
  auto library = SharedLibrary::open(fmt::format("libnvJitLink.so.{}", toolkit_major()), search);
  if (!library) return library.status();
  auto calls = std::make_shared<Calls>();
  const char* missing = nullptr;
  const auto bind = [&](auto& pointer, const char* name) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(library->symbol(name));
    if (pointer == nullptr) missing = name;
  };
  bind(calls->version, "nvJitLinkVersion");
  bind(calls->create, "nvJitLinkCreate");
  bind(calls->destroy, "nvJitLinkDestroy");
  bind(calls->add_data, "nvJitLinkAddData");
  bind(calls->complete, "nvJitLinkComplete");
  bind(calls->error_log_size, "nvJitLinkGetErrorLogSize");
  bind(calls->error_log, "nvJitLinkGetErrorLog");
  bind(calls->cubin_size, "nvJitLinkGetLinkedCubinSize");
  bind(calls->cubin, "nvJitLinkGetLinkedCubin");
  bind(calls->ptx_size, "nvJitLinkGetLinkedPtxSize");
  bind(calls->ptx, "nvJitLinkGetLinkedPtx");
  if (missing != nullptr)
    return Status(PURLIN_LINK_ERROR,
                  fmt::format("{} has no function {}; it is not the nvJitLink of CUDA {}",
                              library->path(), missing, toolkit_major()));
  auto out = std::make_shared<NvJitLink>();
  out->library_ = *library;
  out->file_ = SharedLibrary::file_of(reinterpret_cast<const void*>(calls->version));
  unsigned major = 0, minor = 0;
  if (const int code = calls->version(&major, &minor); code != 0)
    return link_failure({"nvJitLinkVersion", code, out->file_, 0, "", ""});
  out->release_ = major * 1000 + minor * 10;
  out->calls_ = std::move(calls);
  return std::shared_ptr<const NvJitLink>(std::move(out));
}

Result<std::vector<std::byte>> NvJitLink::run(std::span<const LinkInput> inputs,
                                              std::span<const std::string> options,
                                              bool ptx) const {
  struct Guard {
    const Calls& calls;
    Calls::Handle handle = nullptr;
    ~Guard() {
      if (handle != nullptr) calls.destroy(&handle);
    }
  } guard{*calls_};
  std::vector<const char*> arguments;
  for (const auto& option : options) arguments.push_back(option.c_str());
  if (ptx) arguments.push_back("-ptx");
  std::string all_options = "options";
  for (const char* argument : arguments) all_options += std::string(" ") + argument;

  const auto failed = [&](const char* call, int code, const std::string& input) {
    size_t size = 0;
    std::string log;
    if (guard.handle != nullptr && calls_->error_log_size(guard.handle, &size) == 0 && size > 1) {
      log.resize(size);
      if (calls_->error_log(guard.handle, log.data()) != 0) log = "(its log could not be read)";
    }
    return link_failure({call, code, file_, release_, input.empty() ? all_options : input, log});
  };
  if (const int code =
          calls_->create(&guard.handle, static_cast<uint32_t>(arguments.size()), arguments.data());
      code != 0)
    return failed("nvJitLinkCreate", code, "");
  for (const auto& input : inputs)
    if (const int code = calls_->add_data(guard.handle, type_of(input.what), input.bytes.data(),
                                          input.bytes.size(), input.name.c_str());
        code != 0)
      return failed("nvJitLinkAddData", code, "input '" + input.name + "'");
  if (const int code = calls_->complete(guard.handle); code != 0)
    return failed("nvJitLinkComplete", code, "");
  size_t size = 0;
  if (const int code =
          ptx ? calls_->ptx_size(guard.handle, &size) : calls_->cubin_size(guard.handle, &size);
      code != 0)
    return failed(ptx ? "nvJitLinkGetLinkedPtxSize" : "nvJitLinkGetLinkedCubinSize", code, "");
  std::vector<std::byte> out(size);
  if (const int code = ptx ? calls_->ptx(guard.handle, reinterpret_cast<char*>(out.data()))
                           : calls_->cubin(guard.handle, out.data());
      code != 0)
    return failed(ptx ? "nvJitLinkGetLinkedPtx" : "nvJitLinkGetLinkedCubin", code, "");
  return out;
}

Result<std::vector<std::byte>> NvJitLink::link(std::span<const LinkInput> inputs,
                                               std::span<const std::string> options) const {
  return run(inputs, options, false);
}

Result<std::string> NvJitLink::link_to_ptx(std::span<const LinkInput> inputs,
                                           std::span<const std::string> options) const {
  auto bytes = run(inputs, options, true);
  if (!bytes) return bytes.status();
  std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  text.resize(text.find_last_not_of('\0') + 1);
  return text;
}

}  // namespace purlin
