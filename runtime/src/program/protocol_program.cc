#include "program/protocol_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "program/select.h"
#include "snac/constants.h"
#include "snac/listed.h"
#include "snac_images.h"

namespace purlin {
namespace {

constexpr uint32_t kDependentLaunchCc = 90;

snac::Form form_in_code(ProtocolKernel kernel, const snac::Form& form) {
  snac::Form code;
  code.steps = form.steps;
  code.reduces = form.reduces;
  if (kernel == ProtocolKernel::kSwitch) return code;  // the switch takes every rank's
  code.listed = form.listed;
  code.windows = form.windows && kernel == ProtocolKernel::kThroughput;
  if (form.reduces) code.sources = form.sources;
  const bool chunks = kernel == ProtocolKernel::kThroughput;
  for (int step = 0; step < 2; ++step)
    code.shared[step] = form.shared[step] && !(chunks && form.push[step]);
  if (chunks) {
    code.parts = form.parts;
    code.everyone = form.everyone && form.steps == 2 && !code.shared[1] && !form.parts;
  }
  return code;
}

std::string name_of(ProtocolKernel kernel, const ProtocolConstants& constants) {
  if (kernel == ProtocolKernel::kPairs)
    return fmt::format("pairs-n{}-t{}", constants.nranks, constants.threads);
  const char* protocol = kernel == ProtocolKernel::kLatency  ? "latency"
                         : kernel == ProtocolKernel::kSwitch ? "switch"
                                                             : "throughput";
  std::string name =
      fmt::format("{}-form{}x{:x}", protocol, constants.form.steps, encode_flags(constants.form));
  if (constants.universal) name += "-any";
  else if (computes(constants))
    name += fmt::format("-dtype{}-op{}", +constants.dtype, +constants.op);
  return name + fmt::format("-n{}-t{}", constants.nranks, constants.threads);
}

// This library's images whose names hold `wanted`.
Result<std::vector<DeviceImage>> own_images(const std::string& wanted) {
  std::vector<DeviceImage> images;
  for (uint64_t i = 0; i < snac_images_count; ++i) {
    Result<DeviceImage> image = image_from_atom(snac_images[i], "snac");
    if (!image) return image.status();
    if (image->name.find(wanted) != std::string::npos) images.push_back(*std::move(image));
  }
  if (!images.empty()) return images;
  return Status(PURLIN_LINK_ERROR,
                fmt::format("a program for a CUDA device was asked for, but this build of Purlin "
                            "holds no device code ({}): build it where nvcc is installed",
                            wanted));
}

// The Atom's core image and what reduces, if anything does.
Result<std::vector<DeviceImage>> images_of(const ProtocolConstants& constants, uint32_t cc,
                                           std::span<const DeviceImage> atom) {
  const bool fragment = computes(constants) && !constants.universal;
  auto images =
      select_images(atom, cc, fragment ? std::optional(constants.dtype) : std::nullopt);
  if (!images || !constants.universal) return images;
  const auto any = own_images("any_reduction");
  if (!any) return any.status();
  auto fitting = select_images(*any, cc, std::nullopt);
  if (!fitting) return fitting.status();
  images->push_back(std::move(fitting->front()));
  return images;
}

}  // namespace

bool computes(const ProtocolConstants& constants) {
  return constants.form.reduces || constants.op == PURLIN_PREMUL_SUM;
}

uint32_t usual_threads(const purlin_atom_limits& limits, uint32_t sources) {
  return std::max(threads_for_sources(limits.default_threads, sources), limits.min_threads);
}

// 1024 would start a microsecond later.
uint32_t latency_threads(uint32_t nranks, bool much) {
  return threads_for_sources(much ? 256 : 512, nranks);
}

ProtocolConstants universal_of(ProtocolKernel kernel, const ProtocolConstants& constants) {
  ProtocolConstants universal = constants;
  universal.universal = true;
  if (kernel == ProtocolKernel::kLatency)
    universal.threads = latency_threads(constants.nranks, true);
  return universal;
}

ProtocolConstants constants_in_code(ProtocolKernel kernel, const ProtocolConstants& constants) {
  ProtocolConstants code = constants;
  code.universal = constants.universal && constants.form.reduces;
  if (!computes(constants) || code.universal) {
    code.dtype = PURLIN_U8;
    code.op = PURLIN_SUM;
  }
  if (kernel == ProtocolKernel::kLatency) {  // has no pipeline
    code.stages = 1;
    code.stage_bytes = 16;
  }
  code.form =
      kernel == ProtocolKernel::kPairs ? snac::Form{} : form_in_code(kernel, constants.form);
  return code;
}

const char* kernel_name(ProtocolKernel kernel) {
  switch (kernel) {
    case ProtocolKernel::kLatency:
      return "purlin_latency_d2";
    case ProtocolKernel::kThroughput:
      return "purlin_throughput_d2";
    case ProtocolKernel::kPairs:
      return "purlin_pairs_d2";
    case ProtocolKernel::kSwitch:
      return "purlin_switch_d2";
  }
  return "";
}

uint32_t static_shared_bytes(const ProtocolConstants& constants) {
  constexpr uint32_t kAlignment = 128;  // of the dynamic memory behind it
  constexpr uint32_t kFlows = kDeviceRanks * static_cast<uint32_t>(sizeof(snac::ListedFlow));
  constexpr uint32_t kPlaces = 2 * kDeviceRanks * 8;
  const uint32_t bytes = (constants.universal ? 16u : 0u) + (constants.form.listed ? kFlows : 0u) +
                         (constants.form.windows ? kPlaces : 0u);
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

uint32_t dynamic_shared_bytes(const purlin_atom_limits& limits,
                              const ProtocolConstants& constants) {
  return constants.stages * constants.stage_bytes + limits.shared_bytes_fixed;
}

Result<DeviceImage> protocol_image(ProtocolKernel kernel) {
  const std::string wanted = kernel == ProtocolKernel::kLatency      ? "latency_kernel"
                             : kernel == ProtocolKernel::kThroughput ? "throughput_kernel"
                             : kernel == ProtocolKernel::kSwitch     ? "switch_kernel"
                                                                     : "pairs_kernel";
  auto images = own_images(wanted);
  if (!images) return images.status();
  return std::move(images->front());
}

Result<ProgramRequest> protocol_request(ProtocolKernel kernel, const ProtocolConstants& asked,
                                        uint32_t cc, std::span<const DeviceImage> atom) {
  const ProtocolConstants constants = constants_in_code(kernel, asked);
  if (constants.nranks < 1 || constants.nranks > kDeviceRanks) {
    return Status(PURLIN_INVALID_ARGUMENT,
                  fmt::format("a device program for {} ranks was asked for; device code serves 1 … "
                              "{} ranks of one machine",
                              constants.nranks, kDeviceRanks));
  }
  Result<DeviceImage> snac = protocol_image(kernel);
  if (!snac) return snac.status();
  Result<std::vector<DeviceImage>> images = images_of(constants, cc, atom);
  if (!images) return images.status();

  ProgramRequest request;
  request.name = name_of(kernel, constants);
  request.cc = cc;
  request.images = std::move(*images);
  request.images.insert(request.images.begin(), std::move(*snac));
  request.constants = {
      {"nranks", constants.nranks},
      {"universal", constants.universal},
      {"stages", constants.stages},
      {"stage_bytes", constants.stage_bytes},
      {"threads", constants.threads},
      {"dependent_launch", kernel == ProtocolKernel::kLatency && cc >= kDependentLaunchCc},
      {"form_steps", constants.form.steps},
      {"form_flags", encode_flags(constants.form)},
      {"form_sources", constants.form.sources},
  };
  if (!constants.universal) {  // there the reduction gives them, from the kernel's argument
    request.constants.push_back({"dtype", static_cast<uint64_t>(constants.dtype)});
    request.constants.push_back({"op", static_cast<uint64_t>(constants.op)});
  }
  request.threads = constants.threads;
  request.kernels = {kernel_name(kernel)};
  if (computes(constants)) request.abi_globals.push_back("purlin_device_abi_reduction");
  return request;
}

}  // namespace purlin
