#include "device/cuda_device.h"

#include <fmt/format.h>

#include "device/peer_link.h"

namespace purlin {
namespace {

std::string hex_uuid(const cu::Uuid& uuid) {
  std::string text = "GPU-";
  for (unsigned char byte : uuid.bytes) text += fmt::format("{:02x}", byte);
  return text;
}

Status check_ordinal(int ordinal, int count) {
  if (ordinal >= 0 && ordinal < count) return {};
  return {PURLIN_INVALID_ARGUMENT,
          fmt::format("there is no CUDA device {}: {} visible to this process, numbered from 0. "
                      "Give an ordinal among them, or change CUDA_VISIBLE_DEVICES",
                      ordinal, count == 1 ? "1 device is" : fmt::format("{} devices are", count))};
}

}  // namespace

Result<int> current_ordinal(const DriverApi& api) {
  cu::Context current = nullptr;
  PURLIN_RETURN_IF_ERROR(api.ctx_get_current(&current));
  if (current == nullptr) return 0;
  cu::Device device = 0;
  PURLIN_RETURN_IF_ERROR(api.ctx_get_device(&device));
  int count = 0;
  PURLIN_RETURN_IF_ERROR(api.device_get_count(&count));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cu::Device candidate = 0;
    PURLIN_RETURN_IF_ERROR(api.device_get(&candidate, ordinal));
    if (candidate == device) return ordinal;
  }
  return Status(PURLIN_CUDA_ERROR,
                "the calling thread's CUDA context belongs to none of the visible devices");
}

Result<std::shared_ptr<const CudaDevice>> CudaDevice::open(const DriverApi& api, int ordinal) {
  std::shared_ptr<CudaDevice> device(new CudaDevice());
  device->api_ = &api;
  cu::Context expected = nullptr;
  if (ordinal < 0) {
    Result<int> current = current_ordinal(api);
    if (!current) return current.status();
    ordinal = *current;
    PURLIN_RETURN_IF_ERROR(api.ctx_get_current(&expected));
  }
  PURLIN_RETURN_IF_ERROR(device->read(ordinal));
  if (expected != nullptr && expected != device->context_) {
    return Status(PURLIN_UNSUPPORTED,
                  fmt::format("the calling thread's CUDA context on {} is not the device's primary "
                              "context, which Purlin works in. Make the primary context current "
                              "(cudaSetDevice), or name the device by its ordinal",
                              device->describe()));
  }
  return std::shared_ptr<const CudaDevice>(std::move(device));
}

CudaDevice::~CudaDevice() {
  if (context_ != nullptr) api_->raw().primary_ctx_release(handle_);
}

std::string CudaDevice::describe() const {
  return fmt::format("GPU {} ({}, {})", ordinal_, name_, uuid_text_);
}

Result<int> CudaDevice::attribute(cu::DeviceAttribute attribute) const {
  int value = 0;
  PURLIN_RETURN_IF_ERROR(api_->device_get_attribute(&value, attribute, handle_));
  return value;
}

Status CudaDevice::read(int ordinal) {
  int count = 0;
  PURLIN_RETURN_IF_ERROR(api_->device_get_count(&count));
  PURLIN_RETURN_IF_ERROR(check_ordinal(ordinal, count));
  ordinal_ = ordinal;
  PURLIN_RETURN_IF_ERROR(api_->device_get(&handle_, ordinal));
  PURLIN_RETURN_IF_ERROR(read_identity());
  PURLIN_RETURN_IF_ERROR(check_sharing());
  PURLIN_RETURN_IF_ERROR(read_facts());
  return api_->primary_ctx_retain(&context_, handle_)
      .with_context(fmt::format("opening {}", describe()));
}

Status CudaDevice::read_identity() {
  PURLIN_RETURN_IF_ERROR(api_->device_get_uuid(&uuid_, handle_));
  uuid_text_ = hex_uuid(uuid_);
  char name[256] = {};
  PURLIN_RETURN_IF_ERROR(api_->device_get_name(name, sizeof(name) - 1, handle_));
  name_ = name;
  return {};
}

Status CudaDevice::check_sharing() const {
  for (const cu::DeviceAttribute needed : {cu::kVirtualMemorySupported, cu::kPosixFdSupported}) {
    const Result<int> offered = attribute(needed);
    if (!offered) return offered.status();
    if (offered.value() == 0) {
      return {PURLIN_UNSUPPORTED,
              fmt::format(
                  "{} offers no {}, which Purlin shares staging memory by. Use a driver and "
                  "a virtual machine that offer it, or host ranks",
                  describe(),
                  needed == cu::kVirtualMemorySupported ? "virtual memory management"
                                                        : "export of memory as file descriptors")};
    }
  }
  return {};
}

Status CudaDevice::read_facts() {
  struct {
    cu::DeviceAttribute attribute;
    int value;
  } asked[] = {{cu::kComputeCapabilityMajor, 0},
               {cu::kComputeCapabilityMinor, 0},
               {cu::kMultiprocessorCount, 0},
               {cu::kMaxSharedPerBlockOptin, 0},
               {cu::kMulticastSupported, 0},
               {cu::kMemSyncDomainCount, 0},
               {cu::kMpsEnabled, 0}};
  for (auto& each : asked) {
    const Result<int> value = attribute(each.attribute);
    if (!value) return value.status();
    each.value = value.value();
  }
  size_t memory = 0;
  PURLIN_RETURN_IF_ERROR(api_->device_total_mem(&memory, handle_));
  const Result<bool> nvlink = has_nvlink_peer(*api_, ordinal_);
  if (!nvlink) return nvlink.status();

  architecture_ = asked[0].value * 10 + asked[1].value;
  multiprocessors_ = asked[2].value;
  sync_domains_ = asked[5].value;
  mps_ = asked[6].value != 0;
  facts_.struct_size = sizeof(facts_);
  facts_.kind = PURLIN_ATOM_CUDA;
  facts_.cc_major = static_cast<uint32_t>(asked[0].value);
  facts_.cc_minor = static_cast<uint32_t>(asked[1].value);
  facts_.multiprocessors = static_cast<uint32_t>(asked[2].value);
  facts_.shared_bytes_per_block = static_cast<uint32_t>(asked[3].value);
  facts_.nvlink = nvlink.value() ? 1 : 0;
  facts_.multicast = asked[4].value != 0 ? 1 : 0;
  facts_.memory_bytes = memory;
  facts_.name = name_.c_str();
  return {};
}

}  // namespace purlin
