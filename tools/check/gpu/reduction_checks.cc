// Reductions and scalings.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tools/check/gpu/gpu_checks.h"
#include "tools/check/gpu/walks.h"
#include "tools/check/pieces.h"
#include "tools/inputs.h"
#include "tools/names.h"

namespace purlin::tools::check {
namespace {

// A program for every dtype and operation, and for every number of sources, or for one that differs
// from pair to pair. The same ones serve both requirements.
std::vector<ProgramSpec> reducing(const AtomOnGpu& atom) {
  std::vector<ProgramSpec> specs;
  size_t turn = 0;
  for (const auto& [dtype, op] : declared_reductions(atom.limits())) {
    const std::vector<uint32_t> numbers = {2, 3, 8, 1, 5, atom.most_sources()};
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (!atom.subject().full && i != turn % numbers.size()) continue;
      if (numbers[i] > atom.most_sources()) continue;
      ProgramSpec spec;
      spec.reduces = true;
      spec.dtype = dtype;
      spec.op = op;
      spec.nranks = numbers[i];
      specs.push_back(spec);
    }
    ++turn;
  }
  return specs;
}

// Links all programs, then runs on each what `fill` puts into walks.
template <class Fill>
Finding run_each(AtomOnGpu& atom, const std::vector<ProgramSpec>& specs, const Fill& fill) {
  auto programs = atom.link_all(specs);
  if (!programs) return fault_on_gpu(atom, programs.error(), 0);
  uint64_t cases = 0;
  for (const Program& program : *programs) {
    const std::vector<GpuWalk> walks = fill(program.spec);
    for (const GpuWalk& walk : walks) cases += walk.segments();
    if (std::string fault = run_walks(atom, program, walks); !fault.empty())
      return failed(std::move(fault), cases);
  }
  return passed(cases);
}

Finding reductions_on_gpu(const Subject& subject, const std::function<Finding(AtomOnGpu&)>& check) {
  if (declared_reductions(subject.limits()).empty())
    return not_applicable("the Atom declares no reduction of its own");
  return on_gpu(subject, check);
}

}  // namespace

Finding check_reduce_on_gpu(const Subject& subject) {
  return reductions_on_gpu(subject, [&](AtomOnGpu& atom) {
    auto random = subject.random(kReduce);
    return run_each(atom, reducing(atom), [&](const ProgramSpec& spec) {
      std::vector<GpuWalk> walks(8, GpuWalk(spec));
      size_t turn = 0;
      for (const uint64_t count : edge_counts(dtype_bytes(spec.dtype), 4096)) {
        Piece piece = reduction_piece(count, spec.nranks, false, random);
        walks[turn++ % walks.size()].add(piece, random);
        piece.same = {static_cast<int>(random() % spec.nranks)};
        walks[turn++ % walks.size()].add(piece, random);
      }
      return walks;
    });
  });
}

Finding check_scale_on_gpu(const Subject& subject) {
  std::vector<ProgramSpec> specs;
  const purlin_atom_limits limits = subject.limits();
  for (int dtype = 0; dtype < PURLIN_DTYPE_COUNT; ++dtype) {
    if ((limits.op_mask[dtype] >> PURLIN_PREMUL_SUM & 1u) == 0) continue;
    ProgramSpec spec;
    spec.reduces = true;
    spec.dtype = dtype;
    spec.op = PURLIN_PREMUL_SUM;
    specs.push_back(spec);
  }
  if (specs.empty()) return not_applicable("the Atom declares no pre-multiplied sum of its own");
  return on_gpu(subject, [&](AtomOnGpu& atom) {
    auto random = subject.random(kScale);
    return run_each(atom, specs, [&](const ProgramSpec& spec) {
      std::vector<GpuWalk> walks(3, GpuWalk(spec));
      for (int rank = 0; rank < 3; ++rank) {
        GpuWalk& walk = walks[static_cast<size_t>(rank)];
        std::memcpy(&walk.scalar, premul_scalar(spec.dtype, rank).bytes, sizeof walk.scalar);
        for (const uint64_t count : edge_counts(dtype_bytes(spec.dtype), 4096)) {
          Piece piece = reduction_piece(count, 1, true, random);
          piece.consume = PURLIN_CONSUME_SCALE;
          walk.add(piece, random);
        }
      }
      return walks;
    });
  });
}

Finding check_score_on_gpu(const Subject& subject) {
  return reductions_on_gpu(subject, [&](AtomOnGpu& atom) {
    auto random = subject.random(kScore);
    std::vector<ProgramSpec> specs = reducing(atom);
    // Stages of another size cut pieces elsewhere; the bits stay.
    const size_t all = specs.size();
    for (size_t i = 0; i < (subject.full ? all : 6); ++i) {
      specs.push_back(specs[subject.full ? i : random() % all]);
      specs.back().stage_bytes = atom.limits().min_stage_bytes;
      specs.back().stages = atom.limits().min_stages;
    }
    return run_each(atom, specs, [&](const ProgramSpec& spec) {
      std::vector<GpuWalk> walks;
      for (int i = 0; i < 4; ++i) {
        walks.emplace_back(spec);
        walks.back().most_delay_ns = i % 2 == 0 ? 0 : 5000;
        for (const uint64_t count : {1u, 9u, 100u, 1027u, 5000u}) {
          Piece piece = reduction_piece(count, spec.nranks, true, random);
          for (const int in_place : {-1, 0, static_cast<int>(spec.nranks) - 1}) {
            piece.same = {in_place};
            walks.back().add(piece, random);
          }
        }
      }
      return walks;
    });
  });
}

}  // namespace purlin::tools::check
