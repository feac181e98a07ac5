// Ranks on the machine's GPUs, as threads, with a stream and buffers each.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/context_scope.h"
#include "device/private_stream.h"
#include "runtime/communicator/ranks.h"
#include "runtime/communicator/sweep_case.h"

namespace purlin::test {

// Device memory of one rank with copies from and to the host. Failures end the test case.
class DeviceBytes {
 public:
  DeviceBytes(std::shared_ptr<const CudaDevice> device, uint64_t bytes);
  ~DeviceBytes();
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;

  unsigned char* data() const { return reinterpret_cast<unsigned char*>(address_); }
  uint64_t size() const { return bytes_; }
  void write(uint64_t at, const void* from, uint64_t bytes, cu::Stream stream);
  void read(uint64_t at, void* to, uint64_t bytes, cu::Stream stream) const;

 private:
  std::shared_ptr<const CudaDevice> device_;
  cu::DevicePtr address_ = 0;
  uint64_t bytes_;
};

// n ranks on one GPU; on several, where the machine has as many, one each with `spread`.
class GpuRanks {
 public:
  // None, after a counted skip with its reason, where the machine or the build has no GPU.
  static std::optional<GpuRanks> make(int n, const std::string& policy, bool spread = false,
                                      unsigned timeout_ms = 20'000);

  int size() const { return ranks_->size(); }
  purlin_comm_t comm(int rank) const { return ranks_->comm(rank); }
  const std::shared_ptr<const CudaDevice>& device(int rank) const {
    return devices_[static_cast<size_t>(rank)];
  }
  cu::Stream stream(int rank) const { return streams_[static_cast<size_t>(rank)].get(); }
  // On a thread for each rank, with its device's context current.
  void each(const std::function<void(int rank)>& body) const;
  // Waits for the rank's stream; an error of the driver ends the test case.
  void synchronize(int rank) const;

  // Device memory of the rank, for its buffers: nothing is allocated while a peer's kernel may wait.
  DeviceBytes& arena(int rank) const { return *arenas_[static_cast<size_t>(rank)]; }
  static constexpr uint64_t kArenaBytes = 64 << 20;

  // Makes a call eagerly, or captured into a graph that is replayed `replays` times. By default with
  // purlin_run; otherwise `issue` gets the call in device memory.
  using Issue = std::function<purlin_status(const purlin_call& call)>;
  Carrier carrier(int rank, int replays = 0, const Issue& issue = {}) const;

 private:
  GpuRanks() = default;
  std::vector<std::shared_ptr<const CudaDevice>> devices_;
  std::vector<PrivateStream> streams_;
  std::vector<std::unique_ptr<DeviceBytes>> arenas_;
  std::unique_ptr<Ranks> ranks_;
};

// A captured graph, ready to be launched.
class Replay {
 public:
  Replay(const CudaDevice& device, cu::Stream stream, const std::function<std::string()>& work);
  ~Replay();
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  const std::string& error() const { return error_; }  // of `work`, or of the driver
  void launch(cu::Stream stream) const;  // an error of the driver fails the test case

 private:
  const DriverApi& api_;
  cu::Graph graph_ = nullptr;
  cu::GraphExec executable_ = nullptr;
  std::string error_;
};

}  // namespace purlin::test
