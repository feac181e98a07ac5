// What a policy says of one call: every setting with its origin, nothing left open.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/policy.h"
#include "status/status.h"

namespace purlin::policy {

// One call. `bytes` is the size T of docs/policy.md. Members after `bytes` are optional.
struct Query {
  purlin_collective collective = PURLIN_ALL_REDUCE;
  int nranks = 2;
  uint64_t bytes = 0;
  // all_gather_v, reduce_scatter_v: bytes of the largest part, which every rank knows; 0: all parts
  // are equal. Part by part it is packets that must hold them.
  uint64_t largest_part = 0;
  // The call's own wishes: purlin_call::path, reduction, cta_budget.
  purlin_path path = PURLIN_PATH_AUTO;
  purlin_reduction reduction = PURLIN_REDUCTION_POLICY;
  uint32_t cta_budget = 0;
  // Why the switch cannot serve this call; empty: it can. Asked only where the policy wants NVLS.
  std::string switch_refusal = "no Atom with a switch path is bound";
};

struct Choice {
  Setting<purlin_path> path;            // LATENCY, THROUGHPUT or SWITCH
  Setting<purlin_reduction> reduction;  // SCORE or NVLS: what will be done
  Setting<bool> one_shot;               // all_reduce by packets: one-shot, else two-shot
  Setting<Direction> direction;
  Setting<uint64_t> chunk;
  Setting<uint32_t> stage_ctas, reduce_ctas, gather_ctas;
  Setting<uint32_t> stages, stage_bytes, threads;  // 0: the Atom's default
  Setting<bool> zero_copy;
  Setting<uint32_t> cta_budget;  // 0: from the device
  // What was wanted and not had, e.g. NVLS that fell back to SCORE; for explain and the log.
  std::vector<std::string> notes;
};

// PURLIN_UNSUPPORTED: NVLS is required and cannot be had, or a forced path cannot carry the call;
// the text says who asked. PURLIN_INVALID_ARGUMENT: a budget above kMaxCtas. Pure; thread-safe.
Result<Choice> choose(const Policy& policy, const Query& query);

// The same for calls without wishes of their own, worked out once for one number of ranks, so that
// a call costs a short search. A choice that is an error is kept as that error.
class ChoiceTable {
 public:
  // `switch_refusal[c]` as Query::switch_refusal for collective c; PURLIN_COLLECTIVE_COUNT entries.
  ChoiceTable(const Policy& policy, int nranks, const std::vector<std::string>& switch_refusal);
  // Valid as long as the table. The reference's address tells choices apart.
  const Result<Choice>& at(purlin_collective collective, uint64_t bytes) const;

  struct Entry {
    uint64_t up_to;  // last size T that it is for
    Result<Choice> choice;
  };
  // Ascending by up_to; the last one's is kNoLimit. Neighbours may be equal.
  const std::vector<Entry>& entries(purlin_collective collective) const;

 private:
  std::vector<std::vector<Entry>> entries_;  // by collective
};

}  // namespace purlin::policy
