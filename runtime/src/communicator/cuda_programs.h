// The device programs of one GPU rank: made, loaded, and found again by what they are made from.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "device/loaded_program.h"
#include "program/program.h"
#include "program/protocol_program.h"

namespace purlin {

// One program that calls may need.
struct ProgramNeed {
  ProtocolKernel kernel = ProtocolKernel::kLatency;
  ProtocolConstants constants;

  // What does not change the code is made equal (constants_in_code).
  ProgramNeed normalized() const;
  bool operator<(const ProgramNeed& other) const;  // of normalized ones
};

// Not thread-safe; programs that are loaded are shared by all ranks of the process on one device, and
// made once for the process (program/store.h).
class CudaPrograms {
 public:
  // `atom` is the bound Atom and lives as long as the process.
  static Result<CudaPrograms> create(std::shared_ptr<const CudaDevice> device,
                                     const purlin_atom_descriptor& atom);

  // The loaded program, or nullptr when it has not been asked for before. Never blocks.
  const LoadedProgram* find(const ProgramNeed& need) const;
  // Makes and loads all of `needs`; those that are there already cost nothing. No kernel of this rank
  // that waits for a peer of the same process may be running: loading may wait for the device.
  // PURLIN_LINK_ERROR with both remedies, PURLIN_UNSUPPORTED where the device cannot launch one.
  Status make(const std::vector<ProgramNeed>& needs);
  size_t size() const { return loaded_.size(); }

 private:
  CudaPrograms(std::shared_ptr<const CudaDevice> device, const purlin_atom_descriptor& atom)
      : device_(std::move(device)), atom_(atom) {}
  Status load(const ProgramNeed& need, const ProgramRequest& request,
              const Result<ProgramHandle>& made);

  std::shared_ptr<const CudaDevice> device_;
  const purlin_atom_descriptor& atom_;
  std::vector<DeviceImage> images_;
  std::map<ProgramNeed, std::shared_ptr<const LoadedProgram>> loaded_;
};

}  // namespace purlin
