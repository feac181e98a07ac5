#include "tools/bench.h"

#include <algorithm>

#include "tools/guarded_buffer.h"
#include "tools/inputs.h"
#include "tools/issue.h"
#include "tools/names.h"
#include "tools/verify.h"

namespace purlin::tools {
namespace {

// A repeated call in place finds its own results as inputs; these give the same results again.
bool repeats_in_place(int collective) {
  return !reduces(collective) && collective != PURLIN_ALL_TO_ALL;
}

Outcome<std::vector<GuardedBuffer>> allocate(const RankShape& shape, const Case& test,
                                             uint64_t misalign) {
  std::vector<GuardedBuffer> buffers;
  for (const Arena& arena : shape.arenas) {
    auto buffer = GuardedBuffer::make(arena.count * dtype_bytes(test.dtype), misalign);
    if (!buffer) return Error{buffer.error()};
    buffers.push_back(std::move(*buffer));
  }
  return buffers;
}

class Bench {
 public:
  Bench(const Case& test, const BenchSettings& settings, RankLink& link,
        const std::function<void(const std::string&)>& complain)
      : test_(test),
        settings_(settings),
        link_(link),
        complain_(complain),
        shape_(shape_of(test, link.rank())) {}

  Outcome<Row> run(purlin_comm_t comm) {
    auto buffers = allocate(shape_, test_, settings_.misalign);
    if (Done all = link_.agree(buffers ? done() : Done(Error{buffers.error()})); !all)
      return Error{all.error()};
    const Issuer call(test_, shape_, *buffers, link_.rank(), settings_.path, settings_.ctas, comm);
    if (settings_.check)
      for (int i = 0; i < 2; ++i)
        if (Done checked = checked_call(call, *buffers); !checked) return Error{checked.error()};

    const InputSource source = fresh(*buffers);
    auto samples = timed(call);
    if (!samples) return Error{samples.error()};
    if (settings_.check) {
      if (!test_.in_place || repeats_in_place(test_.collective))
        judge(source, *buffers);
      else if (Done checked = checked_call(call, *buffers); !checked)
        return Error{checked.error()};
    }
    return report(summarize(std::move(*samples), row_.batch));
  }

 private:
  InputSource fresh(std::vector<GuardedBuffer>& buffers) {
    const InputSource source{.dtype = test_.dtype,
                             .reducing = reduces(test_.collective),
                             .op = test_.op,
                             .seed = settings_.seed,
                             .bytes = size_of(test_),
                             .iteration = iteration_++};
    prepare(shape_, source, buffers);
    return source;
  }

  void judge(const InputSource& source, const std::vector<GuardedBuffer>& buffers) {
    const Verdict verdict = verify(test_, shape_, source, buffers, link_);
    ++row_.checked_calls;
    row_.wrong += verdict.wrong;
    for (const std::string& note : verdict.notes) complain_(note);
  }

  Done checked_call(const Issuer& call, std::vector<GuardedBuffer>& buffers) {
    const InputSource source = fresh(buffers);
    if (Done made = link_.agree(call()); !made) return made;
    judge(source, buffers);
    return done();
  }

  Outcome<std::vector<double>> timed(const Issuer& call) {
    const auto again = [&call] { return call(); };
    auto warm = time_calls(again, std::max<uint64_t>(settings_.warmup, 1), 1);
    if (Done all = link_.agree(warm ? done() : Done(Error{warm.error()})); !all)
      return Error{all.error()};
    // The first calls may set something up: the plan looks at the median.
    auto medians = link_.gather_all(summarize(*warm, 1).median);
    if (!medians) return Error{medians.error()};
    Plan plan = plan_calls(*std::max_element(medians->begin(), medians->end()));
    if (settings_.iterations > 0) {
      plan.batch = std::min(plan.batch, settings_.iterations);
      plan.batches = settings_.iterations / plan.batch;
    }
    row_.batch = plan.batch;
    auto samples = time_calls(again, plan.batches, plan.batch);
    if (Done all = link_.agree(samples ? done() : Done(Error{samples.error()})); !all)
      return Error{all.error()};
    return samples;
  }

  Outcome<Row> report(const Timing& mine) {
    struct Figures {
      Timing timing;
      uint64_t wrong;
    };
    const auto all = link_.gather_all(Figures{mine, row_.wrong});
    if (!all) return Error{all.error()};
    row_.wrong = 0;
    row_.slowest.calls = mine.calls;
    for (const Figures& rank : *all) {
      row_.wrong += rank.wrong;
      row_.rank_medians.push_back(rank.timing.median);
      for (double Timing::*figure :
           {&Timing::median, &Timing::average, &Timing::least, &Timing::p99, &Timing::most})
        row_.slowest.*figure = std::max(row_.slowest.*figure, rank.timing.*figure);
    }
    return row_;
  }

  const Case& test_;
  const BenchSettings& settings_;
  RankLink& link_;
  const std::function<void(const std::string&)>& complain_;
  const RankShape shape_;
  uint64_t iteration_ = 0;
  Row row_;
};

}  // namespace

Outcome<Row> measure(const Case& test, const BenchSettings& settings, purlin_comm_t comm,
                     RankLink& link, const std::function<void(const std::string&)>& complain) {
  return Bench(test, settings, link, complain).run(comm);
}

}  // namespace purlin::tools
