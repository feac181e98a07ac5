// purlin/memory.hpp: memory that peers can map, and buffers registered for zero-copy.
#ifndef PURLIN_MEMORY_HPP
#define PURLIN_MEMORY_HPP

#include <cstdint>
#include <memory>

#include "purlin/error.hpp"
#include "purlin/purlin.h"

namespace purlin {

// Memory from purlin_mem_alloc on the current device. Move-only; freed with its owner, which must
// outlive every call and registration that uses it.
class Memory {
 public:
  Memory() = default;
  explicit Memory(uint64_t bytes) : bytes_(bytes) {
    void* memory = nullptr;
    Outcome::of(purlin_mem_alloc(&memory, bytes)).or_throw();
    memory_.reset(memory);
  }
  void* get() const noexcept { return memory_.get(); }
  uint64_t bytes() const noexcept { return bytes_; }

 private:
  struct Free {
    void operator()(void* memory) const noexcept { (void)purlin_mem_free(memory); }
  };
  std::unique_ptr<void, Free> memory_;
  uint64_t bytes_ = 0;
};

// A buffer that the peers of `comm` can reach. Making one is collective; it ends with its owner,
// before the buffer and the communicator do. Move-only.
class Registration {
 public:
  Registration() = default;
  Registration(purlin_comm_t comm, void* buffer, uint64_t bytes)
      : handle_(nullptr, Deregister{comm}) {
    purlin_registration_t handle = nullptr;
    Outcome::of(purlin_comm_register(comm, buffer, bytes, &handle)).or_throw();
    handle_.reset(handle);
  }

 private:
  struct Deregister {
    purlin_comm_t comm = nullptr;
    void operator()(purlin_registration* handle) const noexcept {
      (void)purlin_comm_deregister(comm, handle);
    }
  };
  std::unique_ptr<purlin_registration, Deregister> handle_;
};

}  // namespace purlin
#endif  // PURLIN_MEMORY_HPP
