#include "tools/bench.h"

#include <algorithm>
#include <chrono>

#include "tools/inputs.h"
#include "tools/issue.h"
#include "tools/names.h"
#include "tools/rank_memory.h"
#include "tools/verify.h"

namespace purlin::tools {
namespace {

// A repeated call in place finds its own results as inputs; these give the same results again.
bool repeats_in_place(int collective) {
  return !reduces(collective) && collective != PURLIN_ALL_TO_ALL;
}

template <class T>
Done done_or_error(const Outcome<T>& outcome) {
  return outcome ? done() : Done(Error{outcome.error()});
}

class Bench {
 public:
  Bench(const Case& test, const BenchSettings& settings, purlin_comm_t comm, RankDevice& device,
        RankLink& link, const std::function<void(const std::string&)>& complain)
      : test_(test),
        settings_(settings),
        comm_(comm),
        device_(device),
        link_(link),
        complain_(complain),
        shape_(shape_of(test, link.rank())) {}

  Outcome<Row> run() {
    auto memory = RankMemory::make(shape_, dtype_bytes(test_.dtype), settings_.misalign, device_,
                                   settings_.registered ? comm_ : nullptr);
    if (Done all = link_.agree(done_or_error(memory)); !all) return Error{all.error()};
    const Issuer call(test_, shape_, *memory, link_.rank(), settings_.path, settings_.ctas, comm_,
                      device_.stream());
    if (settings_.check)
      for (int i = 0; i < 2; ++i)
        if (Done checked = checked_call(call, *memory); !checked) return Error{checked.error()};

    InputSource source;
    if (Done all = link_.agree(fresh(*memory, source)); !all) return Error{all.error()};
    auto samples = timed(call);
    if (!samples) return Error{samples.error()};
    if (settings_.check) {
      const bool as_left = !test_.in_place || repeats_in_place(test_.collective);
      if (Done checked = as_left ? judge(source, *memory) : checked_call(call, *memory); !checked)
        return Error{checked.error()};
    }
    row_.batch = samples->batch;
    row_.empty = samples->empty;
    const auto peer = timed_peer(*memory);
    if (!peer) return Error{peer.error()};
    return report(summarize(std::move(samples->microseconds), samples->batch), *peer);
  }

 private:
  Done fresh(RankMemory& memory, InputSource& source) {
    source = {.dtype = test_.dtype,
              .reducing = reduces(test_.collective),
              .op = test_.op,
              .seed = settings_.seed,
              .bytes = size_of(test_),
              .iteration = iteration_++};
    prepare(shape_, source, memory.images());
    return memory.upload();
  }

  Done judge(const InputSource& source, RankMemory& memory) {
    if (Done all = link_.agree(memory.download()); !all) return all;
    const Verdict verdict = verify(test_, shape_, source, memory.images(), link_);
    for (const GuardedBuffer& image : memory.images()) row_.digest = image.digest(row_.digest);
    ++row_.checked_calls;
    row_.wrong += verdict.wrong;
    for (const std::string& note : verdict.notes) complain_(note);
    return done();
  }

  Done checked_call(const Issuer& call, RankMemory& memory) {
    InputSource source;
    Done step = link_.agree(fresh(memory, source));
    if (step) step = link_.agree(calls(call, 1));
    return step ? judge(source, memory) : step;
  }

  // `count` calls, complete on return.
  Done calls(const Issuer& call, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i)
      if (Done made = call(); !made) return made;
    return device_.finish(comm_);
  }

  Outcome<Samples> timed(const Issuer& call) {
    using Clock = std::chrono::steady_clock;
    constexpr uint64_t kEstimated = 3;
    Done warm = calls(call, settings_.warmup);
    const auto start = Clock::now();
    if (warm) warm = calls(call, kEstimated);
    const std::chrono::duration<double, std::micro> took = Clock::now() - start;
    if (Done all = link_.agree(warm); !all) return Error{all.error()};
    const auto times = link_.gather_all(took.count() / kEstimated);
    if (!times) return Error{times.error()};
    plan_ = plan_calls(*std::max_element(times->begin(), times->end()));
    if (settings_.iterations > 0) {
      // As many calls as asked for: batches of equal length that add up to them.
      plan_.batch = std::min(plan_.batch, settings_.iterations);
      while (settings_.iterations % plan_.batch != 0) --plan_.batch;
      plan_.batches = settings_.iterations / plan_.batch;
    }
    return together([&](const std::function<Done()>& everyone_ready) {
      return device_.time([&call] { return call(); }, plan_, comm_, everyone_ready);
    });
  }

  // `work` calls its argument at most once; ranks meet there as often, whether all get so far or
  // not.
  template <class Work>
  Outcome<Samples> together(const Work& work) {
    bool met = false;
    auto samples = work([&] {
      met = true;
      return link_.agree(done());
    });
    if (!met) static_cast<void>(link_.agree(done_or_error(samples)));
    if (Done all = link_.agree(done_or_error(samples)); !all) return Error{all.error()};
    return samples;
  }

  // As many calls as Purlin's. Afterwards the buffers hold what NCCL left.
  Outcome<Timing> timed_peer(RankMemory& memory) {
    if (!settings_.peer || !NcclPeer::knows(test_)) return Timing{};
    auto samples = together([&](const std::function<Done()>& everyone_ready) {
      return settings_.peer->time(test_, shape_, memory, device_, plan_, comm_, everyone_ready);
    });
    if (!samples) return Error{samples.error()};
    return summarize(std::move(samples->microseconds), samples->batch);
  }

  static void keep_slowest(Timing& slowest, const Timing& rank) {
    slowest.calls = rank.calls;
    for (double Timing::*figure :
         {&Timing::median, &Timing::average, &Timing::least, &Timing::p99, &Timing::most})
      slowest.*figure = std::max(slowest.*figure, rank.*figure);
  }

  Outcome<Row> report(const Timing& mine, const Timing& peer) {
    struct Figures {
      Timing timing, peer;
      uint64_t wrong, digest;
      double empty;
    };
    const auto all = link_.gather_all(Figures{mine, peer, row_.wrong, row_.digest, row_.empty});
    if (!all) return Error{all.error()};
    row_.wrong = row_.digest = 0;
    for (const Figures& rank : *all) {
      row_.wrong += rank.wrong;
      row_.digest = mix(row_.digest, rank.digest);
      row_.empty = std::max(row_.empty, rank.empty);
      row_.rank_medians.push_back(rank.timing.median);
      keep_slowest(row_.slowest, rank.timing);
      keep_slowest(row_.peer, rank.peer);
    }
    return row_;
  }

  const Case& test_;
  const BenchSettings& settings_;
  const purlin_comm_t comm_;
  RankDevice& device_;
  RankLink& link_;
  const std::function<void(const std::string&)>& complain_;
  const RankShape shape_;
  uint64_t iteration_ = 0;
  Plan plan_;
  Row row_;
};

}  // namespace

Outcome<Row> measure(const Case& test, const BenchSettings& settings, purlin_comm_t comm,
                     RankDevice& device, RankLink& link,
                     const std::function<void(const std::string&)>& complain) {
  return Bench(test, settings, comm, device, link, complain).run();
}

}  // namespace purlin::tools
