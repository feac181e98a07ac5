// An Atom's programs on the machine's first GPU: the kernels of this folder, linked with it.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "tools/check/subject.h"
#include "tools/check/temporary_folder.h"
#include "tools/launcher.h"

namespace purlin::tools::check {

// Zeros: the Atom's own.
struct ProgramSpec {
  bool reduces = false;  // scales too, where op is PURLIN_PREMUL_SUM
  int dtype = PURLIN_U8;
  int op = PURLIN_SUM;
  uint32_t nranks = 2;  // sources of each reducing segment; no segment has more destinations
  uint32_t stages = 0, stage_bytes = 0, threads = 0;
};

struct Program {
  struct Free {
    void operator()(purlin_kernel* kernel) const { purlin_free_kernel(kernel); }
  };
  std::unique_ptr<purlin_kernel, Free> kernel;  // what it was linked to
  CudaHandle loaded = nullptr;
  ProgramSpec spec;
};

class AtomOnGpu {
 public:
  // An error says why this machine cannot try the Atom.
  static Outcome<std::unique_ptr<AtomOnGpu>> open(const Subject& subject);

  const Subject& subject() const { return subject_; }
  const purlin_atom_limits& limits() const { return limits_; }
  // Sources or destinations of a segment at most.
  uint32_t most_sources() const;
  uint32_t most_destinations() const;
  Launcher& gpu() { return *launcher_; }
  const CudaDriver& driver() const { return *driver_; }

  // The error is the library's. Without a linker on this machine `cannot_link` is true too.
  Outcome<Program> link(const ProgramSpec& spec);
  // In order; linked by as many threads as there are processors, loaded by the caller's.
  Outcome<std::vector<Program>> link_all(const std::vector<ProgramSpec>& specs);
  bool cannot_link() const { return cannot_link_; }

 private:
  explicit AtomOnGpu(const Subject& subject) : subject_(subject), limits_(subject.limits()) {}
  Outcome<purlin_kernel*> made(const ProgramSpec& spec) const;

  const Subject subject_;
  const purlin_atom_limits limits_;
  const TemporaryFolder folder_;
  std::string name_, policy_;
  std::unique_ptr<const CudaDriver> driver_;
  std::unique_ptr<Launcher> launcher_;
  bool cannot_link_ = false;
};

}  // namespace purlin::tools::check
