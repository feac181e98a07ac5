// Random walks: one after the other, and many at once.
#include <fmt/format.h>

#include <algorithm>

#include "tools/check/gpu/gpu_checks.h"
#include "tools/check/gpu/walks.h"
#include "tools/check/pieces.h"

namespace purlin::tools::check {
namespace {

constexpr uint64_t kMostElements = 3000;

// Programs that differ in everything that is linked in; the first one copies.
std::vector<ProgramSpec> random_programs(const AtomOnGpu& atom, size_t count,
                                         std::mt19937_64& random) {
  const auto declared = declared_reductions(atom.limits());
  std::vector<ProgramSpec> specs(1);
  specs[0].nranks = std::min(4u, atom.most_destinations());
  while (specs.size() < count && !declared.empty()) {
    ProgramSpec spec;
    spec.reduces = true;
    std::tie(spec.dtype, spec.op) = declared[random() % declared.size()];
    spec.nranks = static_cast<uint32_t>(1 + random() % std::min(atom.most_sources(), 9u));
    specs.push_back(spec);
  }
  return specs;
}

std::vector<GpuWalk> random_walks(const AtomOnGpu& atom, const ProgramSpec& spec, uint64_t count,
                                  std::mt19937_64& random) {
  purlin_atom_limits limits = atom.limits();
  limits.max_destinations = std::min(limits.max_destinations, spec.nranks);
  std::vector<GpuWalk> walks;
  for (uint64_t i = 0; i < count; ++i) {
    GpuWalk walk(spec);
    walk.lockstep = random() % 4 == 0;
    if (random() % 2 == 0) walk.most_delay_ns = static_cast<uint32_t>(1 + random() % 20'000);
    const uint64_t segments = random() % 24;
    for (uint64_t s = 0; s < segments; ++s) {
      const uint32_t consume =
          !spec.reduces || random() % 3 == 0 ? PURLIN_CONSUME_COPY : PURLIN_CONSUME_REDUCE;
      walk.add(random_piece(limits, consume, kMostElements, spec.nranks, random), random);
    }
    if (segments != 0 && random() % 5 == 0) walk.stop_at = random() % segments;
    walks.push_back(std::move(walk));
  }
  return walks;
}

}  // namespace

Finding check_threads_on_gpu(const Subject& subject) {
  return on_gpu(subject, [&](AtomOnGpu& atom) {
    auto random = subject.random(kThreads);
    std::vector<ProgramSpec> specs = random_programs(atom, subject.times(3, 12), random);
    // Two groups in a CTA, where threads, registers and shared memory suffice for any Atom.
    const purlin_atom_limits& limits = atom.limits();
    const bool two = limits.min_threads <= 128;
    const size_t alone = specs.size();
    for (size_t i = 0; two && i < alone; ++i) {
      specs.push_back(specs[i]);
      specs.back().threads = limits.min_threads;
      specs.back().stages = limits.min_stages;
      specs.back().stage_bytes = limits.min_stage_bytes;
    }
    auto programs = atom.link_all(specs);
    if (!programs) return fault_on_gpu(atom, programs.error(), 0);
    uint64_t cases = 0;
    for (size_t i = 0; i < programs->size(); ++i) {
      const Program& program = (*programs)[i];
      const uint32_t groups =
          i >= alone && 2 * program.kernel->shared_bytes <= atom.gpu().most_shared_bytes() ? 2 : 1;
      const auto walks = random_walks(atom, program.spec, subject.times(64, 640), random);
      cases += walks.size();
      if (std::string fault = run_walks(atom, program, walks, groups); !fault.empty())
        return failed(fmt::format("{} at once in a CTA, many CTAs: {}", groups, fault), cases);
    }
    return passed(cases);
  });
}

Finding check_fuzz_on_gpu(const Subject& subject) {
  return on_gpu(subject, [&](AtomOnGpu& atom) {
    auto random = subject.random(kFuzz);
    auto programs = atom.link_all(random_programs(atom, subject.times(8, 60), random));
    if (!programs) return fault_on_gpu(atom, programs.error(), 0);
    uint64_t cases = 0;
    for (const Program& program : *programs) {
      const auto walks = random_walks(atom, program.spec, subject.times(64, 640), random);
      cases += walks.size();
      if (const std::string fault = run_walks(atom, program, walks); !fault.empty())
        return failed(fmt::format("seed {}: {}", subject.seed, fault), cases);
    }
    return passed(cases);
  });
}

}  // namespace purlin::tools::check
