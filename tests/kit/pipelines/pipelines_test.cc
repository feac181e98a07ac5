// The three pipelines, as the Atoms run them, on an emulated CTA: random segments, random
// schedules.
#include <doctest/doctest.h>

#include <random>

#include "kit/pipelines/copies.h"
#include "kit/pipelines/cta.h"
#include "kit/pipelines/work.h"
#include "level.h"
#include "purlin/atom.cuh"

using namespace purlin;

namespace {

enum class Pipeline { kDirect, kWarpRing, kBulkRing, kBulkRingWide };

void run_pipeline(Pipeline pipeline, const purlin_group& group, void* snac) {
  switch (pipeline) {
    case Pipeline::kDirect:
      return kit::run_direct<8>(group, snac);
    case Pipeline::kWarpRing:
      return kit::run_warp_rings<4>(group, snac);
    case Pipeline::kBulkRing:
      return kit::run_bulk_ring<1>(group, snac);
    default:
      return kit::run_bulk_ring<2>(group, snac);
  }
}

// What the policy, a collective and the hardware may vary.
void choose_constants(Pipeline pipeline, std::mt19937_64& random) {
  constants = Constants{};
  constants.nranks = static_cast<uint32_t>(2 + random() % 4);
  if (random() % 6 == 0) constants.nranks = 16;
  constants.sources = random() % 4 == 0 ? 0 : constants.nranks;
  constants.dtype = static_cast<uint32_t>(random() % PURLIN_DTYPE_COUNT);
  constants.op = static_cast<uint32_t>(random() % PURLIN_OP_COUNT);
  const float two = 2.0f;
  const double two_wide = 2.0;
  constants.scalar = constants.dtype == PURLIN_F64   ? kit::bit_cast<uint64_t>(two_wide)
                     : constants.dtype >= PURLIN_F16 ? kit::bit_cast<uint32_t>(two)
                                                     : 2;
  constants.stages = static_cast<uint32_t>(2 + random() % 9);
  constants.threads = 32 * static_cast<uint32_t>(5 + random() % 3);
  constants.stage_bytes = 4096;
  if (pipeline == Pipeline::kDirect) constants.stages = 1, constants.stage_bytes = 16;
}

emulator::Outcome run_once(Pipeline pipeline, uint64_t seed, Watcher& watcher) {
  emulator::reset_copies();
  const uint64_t shared = uint64_t{constants.stages} * constants.stage_bytes + kit::kAroundRing;
  return emulator::run_cta(constants.threads, shared, seed, 4000000, [&](uint32_t thread) {
    const purlin_group group = {sizeof(purlin_group),      thread, constants.threads, 1,
                                emulator::shared_memory(), shared};
    run_pipeline(pipeline, group, &watcher);
  });
}

const char* name_of(Pipeline pipeline) {
  const char* names[] = {"direct", "warp ring", "bulk ring", "bulk ring, pairs"};
  return names[static_cast<int>(pipeline)];
}

void sweep(Pipeline pipeline) {
  const int tries = test::is_full() ? 400 : 15;
  for (int t = 0; t < tries; ++t) {
    const uint64_t seed = test::seed() * 1000 + static_cast<uint64_t>(t);
    std::mt19937_64 random(seed);
    choose_constants(pipeline, random);
    Watcher watcher;
    watcher.pieces = random_pieces(random(), 1 + static_cast<uint32_t>(random() % 24), 20000);
    watcher.most_delay = random() % 2 == 0 ? 0 : 200;
    watcher.depends = random() % 2 == 0 ? 0 : 1 + random() % 3;
    const auto outcome = run_once(pipeline, seed, watcher);
    INFO(std::string(name_of(pipeline)), " seed ", seed, " ranks ", constants.nranks, " dtype ",
         constants.dtype, " op ", constants.op, " stages ", constants.stages, " threads ",
         constants.threads, " segments ", watcher.pieces.size());
    REQUIRE_MESSAGE(outcome.failure.empty(), outcome.failure);
    REQUIRE_MESSAGE(watcher.failure.empty(), watcher.failure);
    REQUIRE(watcher.finished == watcher.pieces.size());
    // Nothing is written after done.
    for (const Piece& piece : watcher.pieces) REQUIRE(piece.judge() == "");
    test::count_cases(watcher.pieces.size());
  }
}

void sweep_stops(Pipeline pipeline) {
  const int tries = test::is_full() ? 200 : 8;
  for (int t = 0; t < tries; ++t) {
    const uint64_t seed = test::seed() * 1000 + 500000 + static_cast<uint64_t>(t);
    std::mt19937_64 random(seed);
    choose_constants(pipeline, random);
    Watcher watcher;
    watcher.pieces = random_pieces(random(), 1 + static_cast<uint32_t>(random() % 20), 20000);
    watcher.most_delay = 300;
    watcher.stop_at = random() % watcher.pieces.size();
    const auto outcome = run_once(pipeline, seed, watcher);
    INFO(std::string(name_of(pipeline)), " seed ", seed, " stops at ", watcher.stop_at);
    // All threads have left, and no copy was left behind.
    REQUIRE_MESSAGE(outcome.failure.empty(), outcome.failure);
    REQUIRE_MESSAGE(watcher.failure.empty(), watcher.failure);
    REQUIRE(watcher.stopped);
    REQUIRE(watcher.finished <= watcher.stop_at);
    test::count_cases(1);
  }
}

}  // namespace

TEST_CASE("direct: every byte, in order, announced when there") { sweep(Pipeline::kDirect); }
TEST_CASE("warp ring: every byte, in order, announced when there") { sweep(Pipeline::kWarpRing); }
TEST_CASE("bulk ring: every byte, in order, announced when there") { sweep(Pipeline::kBulkRing); }
TEST_CASE("bulk ring, pairs: every byte, in order, announced when there") {
  sweep(Pipeline::kBulkRingWide);
}
TEST_CASE("direct: a stop ends it") { sweep_stops(Pipeline::kDirect); }
TEST_CASE("warp ring: a stop ends it") { sweep_stops(Pipeline::kWarpRing); }
TEST_CASE("bulk ring: a stop ends it") { sweep_stops(Pipeline::kBulkRing); }
