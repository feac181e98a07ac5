#include "program/link_failure.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>

#include "purlin/atom_abi.h"

namespace purlin {
namespace {

constexpr std::array kResultNames = {
    "NVJITLINK_SUCCESS",
    "NVJITLINK_ERROR_UNRECOGNIZED_OPTION",
    "NVJITLINK_ERROR_MISSING_ARCH",
    "NVJITLINK_ERROR_INVALID_INPUT",
    "NVJITLINK_ERROR_PTX_COMPILE",
    "NVJITLINK_ERROR_NVVM_COMPILE",
    "NVJITLINK_ERROR_INTERNAL",
    "NVJITLINK_ERROR_THREADPOOL",
    "NVJITLINK_ERROR_UNRECOGNIZED_INPUT",
    "NVJITLINK_ERROR_FINALIZE",
    "NVJITLINK_ERROR_NULL_INPUT",
    "NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS",
    "NVJITLINK_ERROR_INCORRECT_INPUT_TYPE",
    "NVJITLINK_ERROR_ARCH_MISMATCH",
    "NVJITLINK_ERROR_OUTDATED_LIBRARY",
    "NVJITLINK_ERROR_MISSING_FATBIN",
    "NVJITLINK_ERROR_UNRECOGNIZED_ARCH",
    "NVJITLINK_ERROR_UNSUPPORTED_ARCH",
    "NVJITLINK_ERROR_LTO_NOT_ENABLED",
};

// The symbol in ptxas' "Unresolved extern function 'NAME'", if the log says so.
std::string unresolved_symbol(const std::string& log) {
  const size_t said = log.find("Unresolved extern");
  if (said == std::string::npos) return {};
  const size_t open = log.find('\'', said);
  const size_t close = open == std::string::npos ? open : log.find('\'', open + 1);
  return close == std::string::npos ? "" : log.substr(open + 1, close - open - 1);
}

}  // namespace

const char* nvjitlink_result_name(int code) {
  const auto index = static_cast<size_t>(code);
  return code >= 0 && index < kResultNames.size() ? kResultNames[index]
                                                  : "a result that is not known";
}

std::string explain_unresolved(const std::string& symbol) {
  const size_t mark = symbol.rfind("_d");
  unsigned abi = 0;
  bool versioned = false;
  if (mark != std::string::npos) {
    const char* end = symbol.data() + symbol.size();
    const auto [rest, error] = std::from_chars(symbol.data() + mark + 2, end, abi);
    versioned = error == std::errc() && rest == end;
  }
  if (versioned && abi != PURLIN_ATOM_DEVICE_ABI)
    return fmt::format(
        "'{}' belongs to device ABI {}, this Purlin links device ABI {}: rebuild the "
        "plugin whose image asks for it",
        symbol, abi, PURLIN_ATOM_DEVICE_ABI);
  constexpr std::string_view kConstant = "purlin_constant_";
  if (versioned && symbol.starts_with(kConstant))
    return fmt::format(
        "an image asks for the constant '{}', which this program was not given: the "
        "plugin needs a newer Purlin",
        symbol.substr(kConstant.size(), mark - kConstant.size()));
  return fmt::format(
      "no image of the program defines '{}': the plugin lacks this part, or was built "
      "for another device ABI than {}",
      symbol, PURLIN_ATOM_DEVICE_ABI);
}

Status link_failure(const LinkFailure& failure) {
  std::string log = failure.log;
  while (!log.empty() &&
         (log.back() == '\0' || std::isspace(static_cast<unsigned char>(log.back()))))
    log.pop_back();
  std::string remedy = "see the log, and report it to the author of the plugin";
  if (const std::string symbol = unresolved_symbol(log); !symbol.empty())
    remedy = explain_unresolved(symbol);
  else if (failure.code == kNvJitLinkUnrecognizedArch || failure.code == kNvJitLinkUnsupportedArch)
    remedy = "this linker does not know the device: install a newer one of the same CUDA major";
  return Status(PURLIN_LINK_ERROR,
                fmt::format("{} of {} ({}) failed with {} ({}), {}{}{}\n  {}", failure.call,
                            failure.library, cuda_release_text(failure.release), failure.code,
                            nvjitlink_result_name(failure.code), failure.about,
                            log.empty() ? "" : ":\n  ", log, remedy));
}

Status check_linker(CudaRelease linker, const std::string& path, CudaRelease compiler,
                    const std::string& what) {
  if (compiler == 0) return {};
  if (cuda_major(linker) == cuda_major(compiler) && linker >= compiler) return {};
  return Status(
      PURLIN_LINK_ERROR,
      fmt::format("{} was compiled by CUDA {}, which the linker {} of CUDA {} cannot read: install "
                  "nvJitLink and NVRTC of CUDA {}, minor {} or later",
                  what, cuda_release_text(compiler), path, cuda_release_text(linker),
                  cuda_major(compiler), cuda_minor(compiler)));
}

}  // namespace purlin
