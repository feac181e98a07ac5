// A call that waits for a peer, ended by an abort or by its limit.
#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <thread>

#include "tools/check/gpu/gpu_checks.h"
#include "tools/check/gpu/rank_threads.h"
#include "tools/json_text.h"

namespace purlin::tools::check {
namespace {

// Rank 0 of two calls all_gather alone; rank 1 interferes after `pause`, or never. What is wrong
// with the end of that call.
std::string lonely_call(const AtomOnGpu& atom, uint64_t bytes, unsigned timeout_ms,
                        purlin_status wanted, std::optional<std::chrono::microseconds> pause) {
  return run_ranks(atom, 2, timeout_ms, [&](GpuRank& rank) -> std::string {
    const auto memory = rank.device.allocate(3 * bytes);
    if (Done all = rank.link.agree(memory ? done() : Done(Error{memory.error()})); !all)
      return all.error();
    std::string fault;
    if (rank.link.rank() == 0) {
      const purlin_status called = purlin_all_gather(*memory, *memory + bytes, bytes, PURLIN_U8,
                                                     rank.comm, rank.device.stream());
      const Done finished = rank.device.finish(rank.comm);
      const purlin_status status =
          called != PURLIN_OK ? called : purlin_comm_async_error(rank.comm);
      if (status != wanted)
        fault = fmt::format("the waiting call ended with {} ({}), should be {}",
                            purlin_status_name(status),
                            called != PURLIN_OK ? purlin_last_error()
                            : finished          ? "no error"
                                                : finished.error().c_str(),
                            purlin_status_name(wanted));
    } else if (pause) {
      std::this_thread::sleep_for(*pause);
      purlin_comm_abort(rank.comm);
    }
    rank.meet();
    rank.device.release(*memory);
    return fault;
  });
}

}  // namespace

Finding check_abort_on_gpu(const Subject& subject) {
  if ((number_at(subject.atom, "capabilities") & PURLIN_CAP_REDUCE) == 0)
    return not_checked("it serves beside another Atom, for calls by the switch");
  return on_gpu(subject, [&](AtomOnGpu& atom) {
    auto random = subject.random(kAbort);
    uint64_t cases = 0;
    for (const uint64_t bytes : {10u, 400'000u}) {  // packets, and segments
      for (uint64_t i = 0; i < subject.times(4, 60); ++i) {
        // Before, while and after the call begins to wait: wherever the pause happens to end.
        const std::chrono::microseconds pause(random() % 4000);
        ++cases;
        const std::string fault = lonely_call(atom, bytes, 30'000, PURLIN_ABORTED, pause);
        if (!fault.empty())
          return fault_on_gpu(
              atom, fmt::format("{} bytes, abort after {} us: {}", bytes, pause.count(), fault),
              cases);
      }
      ++cases;
      const std::string fault = lonely_call(atom, bytes, 300, PURLIN_TIMEOUT, std::nullopt);
      if (!fault.empty())
        return fault_on_gpu(atom, fmt::format("{} bytes, a time-out of 300 ms: {}", bytes, fault),
                            cases);
    }
    return passed(cases);
  });
}

}  // namespace purlin::tools::check
