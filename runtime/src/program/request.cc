#include "program/request.h"

#include <fmt/format.h>

#include <algorithm>

namespace purlin {

uint32_t register_limit(uint32_t threads) {
  constexpr uint32_t kRegistersOfCta = 65536, kMostOfThread = 255;
  return std::min(kMostOfThread, kRegistersOfCta / threads / 8 * 8);
}

uint32_t threads_for_sources(uint32_t threads, uint32_t sources) {
  constexpr uint32_t kMany = 8, kThreadsForMany = 256;
  return sources > kMany ? std::min(threads, kThreadsForMany) : threads;
}

std::vector<std::string> link_options(const ProgramRequest& request) {
  return {"-arch=" + target_for(request.cc, request.images).name(),
          "-lto",
          "-O3",
          "-fma=0",
          "-ftz=0",
          "-prec-div=1",
          "-prec-sqrt=1",
          fmt::format("-maxrregcount={}", register_limit(request.threads))};
}

Status check_request(const ProgramRequest& request) {
  const auto bad = [&](const std::string& what) {
    return Status(PURLIN_INVALID_ARGUMENT, fmt::format("program '{}': {}", request.name, what));
  };
  if (request.threads < 32 || request.threads > 1024 || request.threads % 32 != 0)
    return bad(
        fmt::format("{} threads; a CTA has a multiple of 32 from 32 to 1024", request.threads));
  if (request.images.empty()) return bad("it has no device image to link");
  if (request.kernels.empty()) return bad("it names no kernel");
  for (const auto& image : request.images) {
    const std::string where = fmt::format("program '{}'", request.name);
    if (image.kind == PURLIN_IMAGE_PROGRAM)
      return bad(fmt::format("{} is finished and cannot be linked again", describe(image)));
    if (Status s = check_image(image); !s) return s.with_context(where);
    if (Status s = check_architecture(image, request.cc); !s) return s.with_context(where);
  }
  if (auto source = constants_source(request.constants); !source)
    return source.status().with_context(fmt::format("program '{}'", request.name));
  return {};
}

Digest program_digest(const ProgramRequest& request) {
  Sha256 hash;
  hash.field("purlin program 1");
  hash.field(uint64_t{PURLIN_ATOM_DEVICE_ABI});
  const auto options = link_options(request);
  hash.field(uint64_t{options.size()});
  for (const auto& option : options) hash.field(option);
  hash.field(uint64_t{request.kernels.size()});
  for (const auto& kernel : request.kernels) hash.field(kernel);
  hash.field(uint64_t{request.constants.size()});
  for (const auto& [name, value] : request.constants) {
    hash.field(name);
    hash.field(value);
  }
  hash.field(uint64_t{request.images.size()});
  for (const auto& image : request.images) {
    hash.field(uint64_t{static_cast<uint32_t>(image.kind)});
    hash.field(image.bytes);
  }
  return hash.finish();
}

}  // namespace purlin
