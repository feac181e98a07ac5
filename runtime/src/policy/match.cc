#include "policy/match.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include "policy/nearest.h"
#include "policy/words.h"

namespace purlin::policy {
namespace {

struct Product {
  uint32_t architecture, multiprocessors, shared_bytes;
  uint64_t gibibytes;
  bool multicast;
  const char* name;
};
constexpr Product kProducts[] = {
    {75, 40, 64 * 1024, 16, false, "Tesla T4"},
    {80, 108, 163 * 1024, 80, false, "NVIDIA A100"},
    {86, 84, 99 * 1024, 48, false, "NVIDIA A40"},
    {89, 142, 99 * 1024, 48, false, "NVIDIA L40S"},
    {90, 132, 227 * 1024, 141, true, "NVIDIA H200"},
    {100, 148, 227 * 1024, 180, true, "NVIDIA B200"},
    {103, 148, 227 * 1024, 270, true, "NVIDIA B300"},
    {120, 188, 99 * 1024, 96, false, "NVIDIA RTX PRO 6000"},
};

uint32_t architecture_of(const purlin_device_facts& device) {
  return device.cc_major * 10 + device.cc_minor;
}

std::string range_text(const Match::Architectures& range) {
  return range.first == range.last ? fmt::format("sm_{}", range.first)
                                   : fmt::format("sm_{}..sm_{}", range.first, range.last);
}

}  // namespace

purlin_device_kind kind_of(const purlin_device_facts& device) {
  return device.kind == PURLIN_ATOM_CUDA ? PURLIN_DEVICE_CUDA : PURLIN_DEVICE_HOST;
}

std::string device_text(const purlin_device_facts& device) {
  if (kind_of(device) == PURLIN_DEVICE_HOST) return "host";
  return fmt::format("sm_{} ({})", architecture_of(device),
                     device.name == nullptr ? "no name" : device.name);
}

std::string mismatch(const Match& match, const purlin_device_facts& device) {
  const purlin_device_kind kind = kind_of(device);
  if (match.kind && match.kind->value != kind)
    return fmt::format("it is for kind {} ({}), the device is {}", word(match.kind->value),
                       match.kind->origin.text(), word(kind));
  if (!match.architectures.empty()) {
    const uint32_t own = kind == PURLIN_DEVICE_HOST ? 0 : architecture_of(device);
    std::string list;
    for (const auto& range : match.architectures) {
      if (range.value.first <= own && own <= range.value.last) {
        list.clear();
        break;
      }
      list += (list.empty() ? "" : ", ") + range_text(range.value);
    }
    if (!list.empty())
      return fmt::format("it is for {} ({}), the device is {}", list,
                         match.architectures.front().origin.text(), device_text(device));
  }
  const char* name = device.name == nullptr ? "" : device.name;
  if (match.name && fnmatch(match.name->value.c_str(), name, 0) != 0)
    return fmt::format("it is for devices named {} ({}), this one is {}", quoted(match.name->value),
                       match.name->origin.text(), quoted(name));
  return "";
}

int specificity(const Match& match) {
  return (match.name ? 4 : 0) + (match.architectures.empty() ? 0 : 2) + (match.kind ? 1 : 0);
}

Result<purlin_device_facts> device_facts_of(const std::string& device) {
  purlin_device_facts facts{};
  facts.struct_size = sizeof facts;
  facts.kind = PURLIN_ATOM_HOST;
  facts.name = "host";
  if (device == "host") return facts;
  std::vector<std::string> known = {"host"};
  const Product* nearest = nullptr;
  uint32_t architecture = 0;
  const bool well_formed =
      device.size() >= 5 && device.size() <= 6 && device.compare(0, 3, "sm_") == 0 &&
      device.find_first_not_of("0123456789", 3) == std::string::npos && device[3] != '0';
  if (well_formed) architecture = static_cast<uint32_t>(std::stoul(device.substr(3)));
  for (const Product& product : kProducts) {
    known.push_back(fmt::format("sm_{}", product.architecture));
    if (product.architecture <= architecture) nearest = &product;
  }
  if (nearest == nullptr)
    return Status(
        PURLIN_INVALID_ARGUMENT,
        fmt::format("device {} is not known{} Write host or sm_NN from sm_75 up, such as "
                    "{}",
                    quoted(device), nearest_word(device, known) ? did_you_mean(device, known) : ".",
                    comma_list(known)));
  facts.kind = PURLIN_ATOM_CUDA;
  facts.cc_major = architecture / 10;
  facts.cc_minor = architecture % 10;
  facts.multiprocessors = nearest->multiprocessors;
  facts.shared_bytes_per_block = nearest->shared_bytes;
  facts.nvlink = nearest->multicast || architecture == 80 ? 1 : 0;
  facts.multicast = nearest->multicast ? 1 : 0;
  facts.memory_bytes = nearest->gibibytes << 30;
  facts.name = nearest->name;
  return facts;
}

}  // namespace purlin::policy
