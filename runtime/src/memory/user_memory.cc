#include "memory/user_memory.h"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "memory/device_memory.h"

namespace purlin {
namespace {

struct Table {
  std::mutex mutex;
  std::map<const void*, DeviceMemory> blocks;
};

// Never destroyed: at exit the driver may be gone before static objects are.
Table& table() {
  static Table* const made = new Table();
  return *made;
}

}  // namespace

Result<void*> allocate_user_memory(std::shared_ptr<const CudaDevice> device, uint64_t bytes) {
  Result<DeviceMemory> memory = DeviceMemory::create(std::move(device), bytes, "purlin_mem_alloc");
  if (!memory) return memory.status();
  void* const address = memory->data();
  const std::lock_guard lock(table().mutex);
  table().blocks.emplace(address, std::move(memory).value());
  return address;
}

Status free_user_memory(void* address) {
  DeviceMemory memory;
  {
    const std::lock_guard lock(table().mutex);
    const auto found = table().blocks.find(address);
    if (found == table().blocks.end()) {
      return {PURLIN_INVALID_ARGUMENT,
              fmt::format("purlin_mem_free({}): the address is not the start of a block of "
                          "purlin_mem_alloc, or was freed before. Pass each block once",
                          fmt::ptr(address))};
    }
    memory = std::move(found->second);
    table().blocks.erase(found);
  }
  return memory.release().with_context("purlin_mem_free");
}

}  // namespace purlin
