#include "tools/alone.h"

#include <chrono>
#include <memory>

#include "tools/inputs.h"
#include "tools/issue.h"
#include "tools/names.h"
#include "tools/rank_memory.h"
#include "tools/verify.h"

namespace purlin::tools {
namespace {

// The call of one rank in host memory.
struct HostRank {
  RankShape shape;
  std::unique_ptr<RankMemory> memory;
  std::unique_ptr<Issuer> call;
};

class AloneBench {
 public:
  AloneBench(const Case& test, const BenchSettings& settings, int rank, purlin_comm_t comm,
             RankDevice& device, const std::function<void(const std::string&)>& complain)
      : test_(test),
        settings_(settings),
        rank_(rank),
        comm_(comm),
        device_(device),
        complain_(complain),
        shape_(shape_of(test, rank)),
        host_(host_device()),
        solo_(hub_.link(0)) {}

  Outcome<Row> run() {
    for (int r = 0; r < test_.nranks; ++r)
      if (Done added = add(r); !added) return Error{added.error()};
    auto memory =
        RankMemory::make(shape_, dtype_bytes(test_.dtype), settings_.misalign, device_, nullptr);
    if (!memory) return Error{memory.error()};
    const Issuer own(test_, shape_, *memory, rank_, settings_.path, settings_.ctas, comm_,
                     device_.stream());
    InputSource source;
    for (int i = 0; i < (settings_.check ? 2 : 1); ++i)
      if (Done made = fresh_call(own, *memory, source); !made) return Error{made.error()};
    const auto again = [&] { return issue(own, nullptr); };
    auto samples = timed(again);
    if (!samples) return Error{samples.error()};
    if (settings_.check) {
      const Done checked =
          test_.in_place ? fresh_call(own, *memory, source) : judge(source, *memory);
      if (!checked) return Error{checked.error()};
    }
    row_.batch = samples->batch;
    row_.empty = samples->empty;
    row_.slowest = summarize(std::move(samples->microseconds), samples->batch);
    row_.rank_medians = {row_.slowest.median};
    return row_;
  }

 private:
  Done add(int rank) {
    auto host = std::make_unique<HostRank>();
    host->shape = shape_of(test_, rank);
    auto memory = RankMemory::make(host->shape, dtype_bytes(test_.dtype), settings_.misalign,
                                   *host_, nullptr);
    if (!memory) return Error{memory.error()};
    host->memory = std::make_unique<RankMemory>(std::move(*memory));
    host->call = std::make_unique<Issuer>(test_, host->shape, *host->memory, rank, settings_.path,
                                          settings_.ctas, comm_, nullptr);
    everyone_.push_back(host->call->call());
    ranks_.push_back(std::move(host));
    return done();
  }

  Done issue(const Issuer& own, const purlin_call* everyone) const {
    if (purlin_run_alone(&own.call(), everyone, comm_, device_.stream()) == PURLIN_OK)
      return done();
    return Error{purlin_last_error()};
  }

  // On fresh inputs, and judged where that is asked for.
  Done fresh_call(const Issuer& own, RankMemory& memory, InputSource& source) {
    source = {.dtype = test_.dtype,
              .reducing = reduces(test_.collective),
              .op = test_.op,
              .seed = settings_.seed,
              .bytes = size_of(test_),
              .iteration = iteration_++};
    for (const auto& host : ranks_) prepare(host->shape, source, host->memory->images());
    prepare(shape_, source, memory.images());
    Done step = memory.upload();
    if (step) step = issue(own, everyone_.data());
    if (step) step = device_.finish(comm_);
    return step && settings_.check ? judge(source, memory) : step;
  }

  Done judge(const InputSource& source, RankMemory& memory) {
    if (Done fetched = memory.download(); !fetched) return fetched;
    const Verdict verdict = verify(test_, shape_, source, memory.images(), *solo_);
    ++row_.checked_calls;
    for (const GuardedBuffer& image : memory.images()) row_.digest = image.digest(row_.digest);
    row_.wrong += verdict.wrong;
    for (const std::string& note : verdict.notes) complain_(note);
    return done();
  }

  Done calls(const std::function<Done()>& call, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i)
      if (Done made = call(); !made) return made;
    return device_.finish(comm_);
  }

  // Asked for a number of calls, no other is made: each is one that a tool slows down.
  Outcome<Samples> timed(const std::function<Done()>& call) {
    using Clock = std::chrono::steady_clock;
    constexpr uint64_t kEstimated = 3;
    if (Done warm = calls(call, settings_.warmup); !warm) return Error{warm.error()};
    Plan plan{settings_.iterations, 1};
    if (settings_.iterations == 0) {
      const auto start = Clock::now();
      if (Done estimated = calls(call, kEstimated); !estimated) return Error{estimated.error()};
      const std::chrono::duration<double, std::micro> took = Clock::now() - start;
      plan = plan_calls(took.count() / kEstimated);
    }
    return device_.time(call, plan, comm_, [] { return done(); });
  }

  const Case& test_;
  const BenchSettings& settings_;
  const int rank_;
  const purlin_comm_t comm_;
  RankDevice& device_;
  const std::function<void(const std::string&)>& complain_;
  const RankShape shape_;
  const std::unique_ptr<RankDevice> host_;
  ThreadHub hub_{1};
  const std::unique_ptr<RankLink> solo_;  // for verify(): this rank shares its work with nobody
  std::vector<std::unique_ptr<HostRank>> ranks_;
  std::vector<purlin_call> everyone_;
  uint64_t iteration_ = 0;
  Row row_;
};

}  // namespace

Outcome<Row> measure_alone(const Case& test, const BenchSettings& settings, int rank,
                           purlin_comm_t comm, RankDevice& device,
                           const std::function<void(const std::string&)>& complain) {
  return AloneBench(test, settings, rank, comm, device, complain).run();
}

}  // namespace purlin::tools
