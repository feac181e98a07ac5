// Walks of chosen segments: order, copies, stops, limits.
#include <fmt/format.h>

#include <algorithm>

#include "tools/check/gpu/gpu_checks.h"
#include "tools/check/gpu/walks.h"
#include "tools/check/pieces.h"

namespace purlin::tools::check {
namespace {

// Copies from and to as many places as most walks need.
ProgramSpec copying(const AtomOnGpu& atom, uint32_t destinations = 4) {
  ProgramSpec spec;
  spec.nranks = std::min(destinations, atom.most_destinations());
  return spec;
}

// Runs walks on a program that is linked for them.
std::string link_and_run(AtomOnGpu& atom, const ProgramSpec& spec,
                         const std::vector<GpuWalk>& walks) {
  const auto program = atom.link(spec);
  return program ? run_walks(atom, *program, walks) : program.error();
}

// Pipelines at the ends of what the Atom declares: all of them in full, else half of them.
std::vector<ProgramSpec> corner_pipelines(AtomOnGpu& atom) {
  const purlin_atom_limits& limits = atom.limits();
  std::vector<ProgramSpec> corners;
  for (const bool deep : {false, true})
    for (const bool wide : {false, true})
      for (const bool many : {false, true}) {
        if (!atom.subject().full && many != (deep != wide)) continue;
        ProgramSpec spec;
        spec.stages = deep ? limits.max_stages : limits.min_stages;
        spec.stage_bytes = wide ? limits.max_stage_bytes : limits.min_stage_bytes;
        spec.threads = many ? limits.max_threads : limits.min_threads;
        // A device's shared memory may hold less than every limit at once.
        const uint32_t room = atom.gpu().most_shared_bytes() - limits.shared_bytes_fixed;
        spec.stages = std::clamp(room / spec.stage_bytes, limits.min_stages, spec.stages);
        corners.push_back(spec);
      }
  return corners;
}

}  // namespace

Finding on_gpu(const Subject& subject, const std::function<Finding(AtomOnGpu&)>& check) {
  const auto atom = AtomOnGpu::open(subject);
  return atom ? check(**atom) : not_checked(atom.error());
}

Finding fault_on_gpu(const AtomOnGpu& atom, std::string fault, uint64_t cases) {
  if (fault.empty()) return passed(cases);
  return atom.cannot_link() ? not_checked(std::move(fault)) : failed(std::move(fault), cases);
}

Finding check_walk_on_gpu(const Subject& subject) {
  return on_gpu(subject, [&](AtomOnGpu& atom) {
    auto random = subject.random(kWalk);
    auto sizes = walk_sizes();
    sizes.push_back({300'000, 200'000, 16});
    std::vector<GpuWalk> walks;
    for (const uint32_t delay : {0u, 20'000u}) {
      for (const bool lockstep : {false, true}) {
        for (const auto& walk : sizes) {
          walks.emplace_back(copying(atom));
          walks.back().lockstep = lockstep;
          walks.back().most_delay_ns = delay;
          for (const uint64_t bytes : walk) walks.back().add(copy_piece(bytes, 0, 0), random);
        }
      }
    }
    return fault_on_gpu(atom, link_and_run(atom, copying(atom), walks), walks.size());
  });
}

Finding check_copy_on_gpu(const Subject& subject) {
  return on_gpu(subject, [&](AtomOnGpu& atom) {
    auto random = subject.random(kCopy);
    const ProgramSpec spec = copying(atom);
    std::vector<GpuWalk> walks;
    for (const auto& pieces :
         aligned_copies(atom.limits().default_stage_bytes, spec.nranks, subject.full)) {
      walks.emplace_back(spec);
      for (const Piece& piece : pieces) walks.back().add(piece, random);
    }
    return fault_on_gpu(atom, link_and_run(atom, spec, walks), walks.size());
  });
}

Finding check_stop_on_gpu(const Subject& subject) {
  return on_gpu(subject, [&](AtomOnGpu& atom) {
    auto random = subject.random(kStop);
    std::vector<GpuWalk> walks;
    for (const uint64_t bytes : {1u, 100u, 70'000u}) {
      for (const uint64_t at : {0u, 1u, 2u, 3u, 4u, 25u}) {
        for (const uint32_t delay : {0u, 20'000u}) {
          walks.emplace_back(copying(atom));
          walks.back().stop_at = at;
          walks.back().most_delay_ns = delay;
          for (uint64_t i = 0; i < at + 3; ++i)
            walks.back().add(copy_piece(i == 2 ? 0 : bytes, 1, 2), random);
        }
      }
    }
    return fault_on_gpu(atom, link_and_run(atom, copying(atom), walks), walks.size());
  });
}

Finding check_limits_on_gpu(const Subject& subject) {
  return on_gpu(subject, [&](AtomOnGpu& atom) {
    auto random = subject.random(kLimits);
    const auto declared = declared_reductions(atom.limits());
    std::vector<ProgramSpec> specs;
    size_t turn = 0;
    for (ProgramSpec spec : corner_pipelines(atom)) {
      spec.nranks = atom.most_destinations();
      specs.push_back(spec);
      const std::vector<uint32_t> sources = {1, atom.most_sources(), 2,
                                             (atom.most_sources() + 1) / 2};
      for (size_t i = 0; i < sources.size() && !declared.empty(); ++i) {
        if (!subject.full && i != turn % sources.size()) continue;
        std::tie(spec.dtype, spec.op) = declared[random() % declared.size()];
        spec.reduces = true;
        spec.nranks = sources[i];
        specs.push_back(spec);
      }
      ++turn;
    }
    auto programs = atom.link_all(specs);
    if (!programs) return fault_on_gpu(atom, programs.error(), 0);
    uint64_t cases = 0;
    for (const Program& program : *programs) {
      const ProgramSpec& spec = program.spec;
      GpuWalk walk(spec);
      const uint32_t targets = std::min(spec.nranks, atom.most_destinations());
      Piece piece = copy_piece(5003, 1, 0);
      piece.targets.assign(targets, 3);
      walk.add(piece, random);
      for (const uint64_t count : {1003u, 30'000u}) {
        if (!spec.reduces) break;
        piece.consume = PURLIN_CONSUME_REDUCE;
        piece.sources.assign(spec.nranks, 0);
        piece.count = count;
        piece.wild = true;
        walk.add(piece, random);
      }
      ++cases;
      if (const std::string fault = run_walks(atom, program, {walk}); !fault.empty())
        return failed(fmt::format("{} stages of {} bytes, {} threads: {}", spec.stages,
                                  spec.stage_bytes, spec.threads, fault),
                      cases);
    }
    return passed(cases);
  });
}

}  // namespace purlin::tools::check
