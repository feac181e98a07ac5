// Walks: order, copies, stops, limits, threads, fuzzing.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include "tools/check/board.h"
#include "tools/check/host_checks.h"
#include "tools/check/pieces.h"
#include "tools/names.h"

namespace purlin::tools::check {
namespace {

// A board with one random walk: copies, and where the type is reduced, reductions and scalings.
Board random_board(const Subject& subject, uint64_t most, std::mt19937_64& random) {
  const purlin_atom_limits& limits = *subject.descriptor->limits;
  const auto declared = declared_reductions(limits);
  const bool reduces = !declared.empty() && random() % 4 != 0;
  const auto [dtype, op] =
      reduces ? declared[random() % declared.size()] : std::pair<int, int>{PURLIN_U8, 0};
  const auto nranks =
      static_cast<uint32_t>(1 + random() % std::min<uint64_t>(limits.max_sources, 9));
  Board board(*subject.descriptor, dtype, op, nranks);
  const uint64_t segments = random() % 12;
  for (uint64_t i = 0; i < segments; ++i) {
    const uint32_t consume =
        !reduces || random() % 3 == 0 ? PURLIN_CONSUME_COPY : PURLIN_CONSUME_REDUCE;
    board.add(random_piece(limits, consume, most, nranks, random), random);
  }
  if (segments != 0 && random() % 5 == 0) board.stop_at = random() % segments;
  return board;
}

}  // namespace

Finding check_walk(const Subject& subject) {
  auto random = subject.random(kWalk);
  uint64_t cases = 0;
  for (const auto& walk : walk_sizes()) {
    Board board(*subject.descriptor, PURLIN_U8, PURLIN_SUM, 2);
    for (const uint64_t bytes : walk) board.add(copy_piece(bytes, 0, 0), random);
    ++cases;
    if (const std::string fault = board.run(); !fault.empty()) return failed(fault, cases);
  }
  return passed(cases);
}

Finding check_copy(const Subject& subject) {
  auto random = subject.random(kCopy);
  const purlin_atom_limits& limits = *subject.descriptor->limits;
  uint64_t cases = 0;
  const uint32_t destinations = std::min(limits.max_destinations, 4u);
  for (const auto& pieces :
       aligned_copies(limits.default_stage_bytes, destinations, subject.full)) {
    Board board(*subject.descriptor, PURLIN_U8, PURLIN_SUM, 4);
    for (const Piece& piece : pieces) board.add(piece, random);
    ++cases;
    if (const std::string fault = board.run(); !fault.empty())
      return failed(fmt::format("source {} bytes past an aligned address: {}",
                                pieces.front().sources.front(), fault),
                    cases);
  }
  return passed(cases);
}

Finding check_stop(const Subject& subject) {
  auto random = subject.random(kStop);
  uint64_t cases = 0;
  for (const uint64_t bytes : {1u, 100u, 70000u}) {
    for (uint64_t at = 0; at < 5; ++at) {
      Board board(*subject.descriptor, PURLIN_U8, PURLIN_SUM, 2);
      for (int i = 0; i < 5; ++i) board.add(copy_piece(i == 2 ? 0 : bytes, 1, 2), random);
      board.stop_at = at;
      ++cases;
      if (const std::string fault = board.run(); !fault.empty())
        return failed(fmt::format("stop at segment {}: {}", at, fault), cases);
    }
  }
  return passed(cases);
}

Finding check_limits(const Subject& subject) {
  auto random = subject.random(kLimits);
  const purlin_atom_limits& limits = *subject.descriptor->limits;
  const auto declared = declared_reductions(limits);
  struct Setting {
    uint32_t stages, stage_bytes, threads;
  };
  uint64_t cases = 0;
  for (const Setting& setting :
       {Setting{limits.min_stages, limits.min_stage_bytes, limits.min_threads},
        Setting{limits.max_stages, limits.max_stage_bytes, limits.max_threads},
        Setting{limits.max_stages, limits.min_stage_bytes, limits.min_threads},
        Setting{limits.min_stages, limits.max_stage_bytes, limits.max_threads}}) {
    for (const uint32_t sources : {1u, 2u, (limits.max_sources + 1) / 2, limits.max_sources}) {
      const auto [dtype, op] = declared.empty() ? std::pair<int, int>{PURLIN_U8, 0}
                                                : declared[random() % declared.size()];
      Board board(*subject.descriptor, dtype, op, sources);
      board.constants.stages = setting.stages;
      board.constants.stage_bytes = setting.stage_bytes;
      board.constants.threads = setting.threads;
      Piece piece = copy_piece(5003, 1, 0);
      piece.targets.assign(limits.max_destinations, 3);
      board.add(piece, random);
      if (!declared.empty()) {
        piece.consume = PURLIN_CONSUME_REDUCE;
        piece.sources.assign(sources, 0);
        piece.count = 1003;
        piece.wild = true;
        board.add(piece, random);
      }
      ++cases;
      if (const std::string fault = board.run(); !fault.empty())
        return failed(fmt::format("{} stages of {} bytes, {} threads: {}", setting.stages,
                                  setting.stage_bytes, setting.threads, fault),
                      cases);
    }
  }
  return passed(cases);
}

Finding check_fuzz(const Subject& subject) {
  auto random = subject.random(kFuzz);
  const uint64_t rounds = subject.times(400, 20000);
  for (uint64_t i = 0; i < rounds; ++i) {
    Board board = random_board(subject, 3000, random);
    if (const std::string fault = board.run(); !fault.empty())
      return failed(fmt::format("round {} of seed {}: {}", i, subject.seed, fault), i + 1);
  }
  return passed(rounds);
}

Finding check_threads(const Subject& subject) {
  constexpr uint64_t kThreadsAtOnce = 4;
  const uint64_t rounds = subject.times(60, 2000);
  std::mutex mutex;
  std::string first;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreadsAtOnce; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(subject.seed * 1000 + kThreads + (t << 32));
      for (uint64_t i = 0; i < rounds; ++i) {
        Board board = random_board(subject, 3000, random);
        const std::string fault = board.run();
        const std::scoped_lock lock(mutex);
        if (!fault.empty() && first.empty())
          first = fmt::format("thread {} of {}: {}", t, kThreadsAtOnce, fault);
        if (!first.empty()) return;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return first.empty() ? passed(kThreadsAtOnce * rounds) : failed(first, kThreadsAtOnce * rounds);
}

}  // namespace purlin::tools::check
