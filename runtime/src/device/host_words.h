// Words that a host thread and running kernels share.
#pragma once

#include <cstdint>
#include <memory>

#include "device/private_stream.h"

namespace purlin {

// Zeroed, page-locked host memory that kernels of every device of this process can read and write:
// for a communicator's stop word and its error record. The host reads and writes it with
// std::atomic_ref, kernels with system-scope accesses. Owns the memory; movable.
class HostWords {
 public:
  static Result<HostWords> create(std::shared_ptr<const CudaDevice> device, uint64_t bytes);
  HostWords(HostWords&& other) noexcept;
  HostWords& operator=(HostWords&& other) noexcept;
  ~HostWords();

  void* host() const { return host_; }
  // The same memory as kernels of `device` see it.
  cu::DevicePtr device_address() const { return device_address_; }
  uint64_t bytes() const { return bytes_; }

 private:
  HostWords(std::shared_ptr<const CudaDevice> device, void* host, uint64_t bytes)
      : device_(std::move(device)), host_(host), bytes_(bytes) {}
  void destroy();

  std::shared_ptr<const CudaDevice> device_;
  void* host_ = nullptr;
  cu::DevicePtr device_address_ = 0;
  uint64_t bytes_ = 0;
};

// Writes single 64-bit words in device memory from the host while kernels run and poll them, by
// copies on a stream of its own: no kernel is needed and no other stream is waited for. Not
// thread-safe.
class WordWriter {
 public:
  static Result<WordWriter> create(std::shared_ptr<const CudaDevice> device);
  // Enqueues *address = value; `address` is 8-byte aligned and mapped for this device (a peer's
  // memory too). Blocks only where 512 writes are in flight.
  Status write(cu::DevicePtr address, uint64_t value);
  // Waits until all words are written.
  Status flush();

 private:
  WordWriter(PrivateStream stream, HostWords source)
      : stream_(std::move(stream)), source_(std::move(source)) {}

  static constexpr unsigned kInFlight = 512;
  PrivateStream stream_;
  HostWords source_;  // the values in flight
  unsigned used_ = 0;
};

}  // namespace purlin
