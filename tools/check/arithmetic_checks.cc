// Reductions and scalings, through `run` and through the table's own functions.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "tools/check/board.h"
#include "tools/check/float_environment.h"
#include "tools/check/host_checks.h"
#include "tools/check/pieces.h"
#include "tools/inputs.h"
#include "tools/names.h"

namespace purlin::tools::check {
namespace {

std::string combination(int dtype, int op) {
  return fmt::format("{} {}", dtype_name(dtype), op_name(op));
}

// The table's `reduce` on guarded memory, into memory of its own or into source `in_place`. The
// fault in words.
std::string reduce_directly(const Subject& subject, int dtype, int op, uint32_t nsrc,
                            uint64_t count, int in_place, std::mt19937_64& random) {
  Board constants(*subject.descriptor, dtype, op, nsrc);
  std::vector<Bytes> originals;
  std::vector<GuardedBuffer> buffers;
  std::vector<const void*> sources;
  const uint64_t bytes = count * dtype_bytes(dtype);
  for (uint32_t r = 0; r <= nsrc; ++r) {
    auto buffer = GuardedBuffer::make(bytes, any_shift(random));
    if (!buffer) throw std::bad_alloc();
    if (r < nsrc) {
      originals.push_back(wild_elements(dtype, count, random));
      std::copy(originals[r].begin(), originals[r].end(), buffer->data());
      sources.push_back(buffer->data());
    }
    buffers.push_back(std::move(*buffer));
  }
  const Bytes expected = reduced(dtype, op, originals);
  GuardedBuffer& target = buffers[in_place < 0 ? nsrc : static_cast<size_t>(in_place)];
  subject.descriptor->host->reduce(&constants.constants, sources.data(), nsrc, target.data(),
                                   bytes);
  const std::string what =
      fmt::format("reduce, {} of {} sources, {} elements{}", combination(dtype, op), nsrc, count,
                  in_place < 0 ? "" : ", in place");
  if (!std::equal(expected.begin(), expected.end(), target.data())) return what + ": wrong bits";
  for (const GuardedBuffer& buffer : buffers)
    if (buffer.damage().bytes != 0) return what + ": wrote outside its destination";
  return "";
}

uint64_t scalar_bits(int dtype, int rank) {
  uint64_t bits = 0;
  std::memcpy(&bits, premul_scalar(dtype, rank).bytes, sizeof bits);
  return bits;
}

std::optional<Finding> without_reductions(const Subject& subject) {
  if (!declared_reductions(*subject.descriptor->limits).empty()) return std::nullopt;
  return not_applicable("the Atom declares no reduction of its own");
}

}  // namespace

Finding check_reduce(const Subject& subject) {
  if (const auto none = without_reductions(subject)) return *none;
  auto random = subject.random(kReduce);
  const purlin_atom_limits& limits = *subject.descriptor->limits;
  uint64_t cases = 0;
  for (const auto& [dtype, op] : declared_reductions(limits)) {
    for (const uint32_t sources : {1u, 2u, 3u, 8u}) {
      if (sources > limits.max_sources) continue;
      Board board(*subject.descriptor, dtype, op, sources);
      for (const uint64_t count : edge_counts(dtype_bytes(dtype), 4096)) {
        Piece piece = reduction_piece(count, sources, false, random);
        board.add(piece, random);
        piece.same = {static_cast<int>(random() % sources)};
        board.add(piece, random);
      }
      cases += 2 * edge_counts(dtype_bytes(dtype), 4096).size();
      if (const std::string fault = board.run(); !fault.empty()) return failed(fault, cases);
    }
  }
  return passed(cases);
}

Finding check_scale(const Subject& subject) {
  if (const auto none = without_reductions(subject)) return *none;
  auto random = subject.random(kScale);
  uint64_t cases = 0;
  for (int dtype = 0; dtype < PURLIN_DTYPE_COUNT; ++dtype) {
    if ((subject.descriptor->limits->op_mask[dtype] >> PURLIN_PREMUL_SUM & 1u) == 0) continue;
    for (int rank = 0; rank < 3; ++rank) {
      Board board(*subject.descriptor, dtype, PURLIN_PREMUL_SUM, 3);
      board.constants.scalar = scalar_bits(dtype, rank);
      for (const uint64_t count : edge_counts(dtype_bytes(dtype), 4096)) {
        Piece piece = reduction_piece(count, 1, true, random);
        piece.consume = PURLIN_CONSUME_SCALE;
        board.add(piece, random);
        const Bytes source = wild_elements(dtype, count, random);
        Bytes target(source.size());
        subject.descriptor->host->scale(static_cast<uint32_t>(dtype), source.data(),
                                        &board.constants.scalar, target.data(), source.size());
        if (target != scaled(dtype, source, board.constants.scalar))
          return failed(fmt::format("scale, {}, {} elements: wrong bits", dtype_name(dtype), count),
                        cases);
        ++cases;
      }
      if (const std::string fault = board.run(); !fault.empty()) return failed(fault, cases);
    }
  }
  return cases == 0 ? not_applicable("the Atom declares no pre-multiplied sum") : passed(cases);
}

Finding check_score(const Subject& subject) {
  if (const auto none = without_reductions(subject)) return *none;
  auto random = subject.random(kScore);
  const purlin_atom_limits& limits = *subject.descriptor->limits;
  uint64_t cases = 0;
  for (const auto& [dtype, op] : declared_reductions(limits)) {
    for (const uint32_t sources : {1u, 2u, 5u, std::min(16u, limits.max_sources)}) {
      if (sources > limits.max_sources) continue;
      Board board(*subject.descriptor, dtype, op, sources);
      // Stages of another size cut pieces elsewhere; the bits stay.
      if (random() % 2 == 0) board.constants.stage_bytes = limits.min_stage_bytes;
      for (const uint64_t count : {1u, 9u, 100u, 1027u})
        board.add(reduction_piece(count, sources, true, random), random);
      cases += 4;
      if (const std::string fault = board.run(); !fault.empty()) return failed(fault, cases);
      for (const int in_place : {-1, 0, static_cast<int>(sources) - 1}) {
        ++cases;
        const std::string fault =
            reduce_directly(subject, dtype, op, sources, 203, in_place, random);
        if (!fault.empty()) return failed(fault, cases);
      }
    }
  }
  return passed(cases);
}

Finding check_environment(const Subject& subject) {
  if (const auto none = without_reductions(subject)) return *none;
  auto random = subject.random(kEnvironment);
  uint64_t cases = 0;
  for (const OddEnvironment odd : odd_environments()) {
    for (const auto& [dtype, op] : declared_reductions(*subject.descriptor->limits)) {
      if (dtype_bytes(dtype) == 1 && op != PURLIN_AVG) continue;
      Board board(*subject.descriptor, dtype, op, 3);
      board.add(reduction_piece(300, 3, true, random), random);
      std::string fault, changed;
      {
        const FloatEnvironment scope(odd);
        fault = board.run();
        changed = scope.changes();
      }
      ++cases;
      if (!fault.empty()) return failed(fmt::format("called with {}: {}", odd.name, fault), cases);
      if (!changed.empty())
        return failed(fmt::format("called with {}, {}: it returned with {}", odd.name,
                                  combination(dtype, op), changed),
                      cases);
    }
  }
  return passed(cases);
}

}  // namespace purlin::tools::check
