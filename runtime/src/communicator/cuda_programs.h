// The device programs of one GPU rank: made, loaded, and found again by what they are made from.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "device/loaded_program.h"
#include "program/background.h"
#include "program/program.h"
#include "program/protocol_program.h"

namespace purlin {

// One program that calls may need.
struct ProgramNeed {
  ProtocolKernel kernel = ProtocolKernel::kLatency;
  ProtocolConstants constants;

  // What does not change the code is made equal (constants_in_code).
  ProgramNeed normalized() const;
  // Whether a program for every dtype and operation can serve instead, and that program. The switch
  // reduces by instructions of its own for each.
  bool may_be_universal() const {
    return constants.form.reduces && kernel != ProtocolKernel::kSwitch;
  }
  ProgramNeed universal() const { return {kernel, universal_of(kernel, constants)}; }
  bool operator<(const ProgramNeed& other) const;  // of normalized ones
};

// What loading a program may disturb at the moment of a call.
enum class Moment {
  kCapture,  // nothing may be loaded
  kShared,   // a peer's kernel on this GPU may wait for this call, and loading may wait for it
  kBusy,     // own launches run
  kIdle,     // none runs
};

// Not thread-safe; programs that are loaded are shared by all ranks of the process on one device, and
// made once for the process (program/store.h).
class CudaPrograms {
 public:
  // `atom` is the bound Atom and lives as long as the process.
  ~CudaPrograms();
  CudaPrograms(CudaPrograms&&) noexcept;
  static Result<CudaPrograms> create(std::shared_ptr<const CudaDevice> device,
                                     const purlin_atom_descriptor& atom);

  // The loaded program, or nullptr when it has not been asked for before. Never blocks.
  const LoadedProgram* find(const ProgramNeed& need) const;
  // Makes and loads all of `needs`; those that are there already cost nothing. No kernel of this rank
  // that waits for a peer of the same process may be running: loading may wait for the device.
  // PURLIN_LINK_ERROR with both remedies, PURLIN_UNSUPPORTED where the device cannot launch one.
  Status make(const std::vector<ProgramNeed>& needs);

  // The program that serves a call at once where its own is not loaded: its own, if that costs no link
  // and may be loaded now, or the universal one, whose own is then made in the background. nullptr:
  // neither, the caller must make() its own.
  const LoadedProgram* serve(const ProgramNeed& need, Moment moment);
  // Those of `needs` that make() is to be asked for: all but universal programs for which the device has not
  // the shared memory, of which they need a little more. Calls do without those.
  std::vector<ProgramNeed> fitting(const std::vector<ProgramNeed>& needs) const;
  // What calls of this device and Atom were served with universal programs for: to be made at the next
  // creation.
  std::vector<ProgramNeed> deferred() const;

 private:
  struct Missing;

  CudaPrograms(std::shared_ptr<const CudaDevice> device, const purlin_atom_descriptor& atom,
               std::vector<DeviceImage> images);
  Result<ProgramRequest> request_for(const ProgramNeed& need) const;
  ProgramShape shape_of(const ProgramNeed& need) const;
  Status load(const ProgramNeed& need, const ProgramRequest& request,
              const Result<ProgramHandle>& made);

  std::shared_ptr<const CudaDevice> device_;
  const purlin_atom_descriptor& atom_;
  std::vector<DeviceImage> images_;
  std::map<ProgramNeed, std::shared_ptr<const LoadedProgram>> loaded_;
  std::map<ProgramNeed, Missing> missing_;  // programs that calls do without
  std::unique_ptr<BackgroundMaking> background_;
};

}  // namespace purlin
