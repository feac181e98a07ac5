#include "kit/pipelines/cta.h"

#include <ucontext.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace purlin::emulator {
namespace {

constexpr size_t kStack = 64 << 10;
constexpr uint32_t kWarp = 32;
constexpr uint32_t kShift = 4096;  // the first shared address, so that 0 is none

struct Fiber {
  ucontext_t context{};
  std::vector<char> stack;
  bool finished = false;
  bool waits = false;  // for other threads, at a vote or a barrier
  bool vote = false;
  const char* at = nullptr;
  bool result = false;
};

struct Machine {
  std::vector<Fiber> fibers;
  ucontext_t scheduler{};
  uint32_t current = 0;
  std::mt19937_64 random;
  std::vector<std::function<void()>> pending;
  std::map<uint32_t, std::vector<uint32_t>> barriers;  // who waits at each
  std::vector<char> shared;
  uint64_t shared_bytes = 0;
  std::string failure;
  bool in_engine = false;  // carrying out what was left for later
  const std::function<void(uint32_t)>* body = nullptr;
};
struct Failed {};
Machine* machine = nullptr;

void back_to_scheduler() {
  swapcontext(&machine->fibers[machine->current].context, &machine->scheduler);
}

void enter(unsigned thread) {
  (*machine->body)(thread);
  machine->fibers[thread].finished = true;
  back_to_scheduler();
}

void step(uint32_t thread) {
  machine->current = thread;
  swapcontext(&machine->scheduler, &machine->fibers[thread].context);
}

bool runnable(const Fiber& fiber) { return !fiber.finished && !fiber.waits; }

// One round of a random warp; false: none can go on.
bool step_warp(uint32_t warps) {
  const uint32_t start = static_cast<uint32_t>(machine->random() % warps);
  for (uint32_t k = 0; k < warps; ++k) {
    const uint32_t first = (start + k) % warps * kWarp;
    bool any = false;
    for (uint32_t thread = first; thread < first + kWarp; ++thread) {
      if (!machine->failure.empty()) return true;
      if (!runnable(machine->fibers[thread])) continue;
      step(thread);
      any = true;
    }
    if (any) return true;
  }
  return false;
}

void carry_out_one() {
  auto& pending = machine->pending;
  const size_t which = machine->random() % pending.size();
  auto work = std::move(pending[which]);
  pending[which] = std::move(pending.back());
  pending.pop_back();
  machine->in_engine = true;
  try {
    work();
  } catch (const Failed&) {
  }
  machine->in_engine = false;
}

}  // namespace

Outcome run_cta(uint32_t threads, uint64_t shared, uint64_t seed, uint64_t patience,
                const std::function<void(uint32_t)>& body) {
  Machine owner;
  machine = &owner;
  owner.random.seed(seed);
  owner.body = &body;
  owner.shared_bytes = shared;
  owner.shared.resize(shared + 2048);
  for (char& byte : owner.shared) byte = static_cast<char>(owner.random());
  owner.fibers.resize(threads);
  for (uint32_t t = 0; t < threads; ++t) {
    Fiber& fiber = owner.fibers[t];
    fiber.stack.resize(kStack);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.data();
    fiber.context.uc_stack.ss_size = kStack;
    makecontext(&fiber.context, reinterpret_cast<void (*)()>(enter), 1, t);
  }
  // Some runs have a slow engine, some a fast one.
  const uint64_t delay = 1 + owner.random() % 20;
  Outcome outcome;
  for (;; ++outcome.steps) {
    bool busy = false;
    for (const Fiber& fiber : owner.fibers) busy = busy || !fiber.finished;
    if (!busy || !owner.failure.empty()) break;
    if (outcome.steps > patience) {
      owner.failure = "the CTA hangs";
      break;
    }
    const bool went = step_warp(threads / kWarp);
    if (!owner.pending.empty() && (!went || owner.random() % delay == 0))
      carry_out_one();
    else if (!went)
      owner.failure = "the CTA is deadlocked";
  }
  if (owner.failure.empty() && !owner.pending.empty())
    owner.failure = "all threads have left, and copies are still under way";
  outcome.failure = owner.failure;
  machine = nullptr;
  return outcome;
}

uint32_t this_thread() { return machine->current; }
uint64_t random_number() { return machine->random(); }

void* shared_memory() {
  const auto at = reinterpret_cast<uintptr_t>(machine->shared.data());
  return reinterpret_cast<void*>((at + 1023) / 1024 * 1024);
}

void* shared_at(uint32_t address, uint32_t bytes) {
  if (address < kShift || address + uint64_t{bytes} > kShift + machine->shared_bytes)
    fail("an access outside shared memory");
  return static_cast<char*>(shared_memory()) + (address - kShift);
}

void pause() { back_to_scheduler(); }

void fail(const std::string& what) {
  machine->failure = what + " (thread " + std::to_string(machine->current) + ")";
  if (machine->in_engine) throw Failed{};
  for (;;) back_to_scheduler();
}

bool warp_vote(bool mine, bool need_all, const char* what) {
  const uint32_t first = machine->current / kWarp * kWarp;
  Fiber& self = machine->fibers[machine->current];
  self.vote = mine;
  self.at = what;
  self.waits = true;
  bool complete = true, all = true, any = false;
  for (uint32_t thread = first; thread < first + kWarp; ++thread) {
    const Fiber& lane = machine->fibers[thread];
    if (lane.finished) fail("a lane has left, and others wait for it");
    complete = complete && lane.waits;
    if (!lane.waits) continue;
    if (std::strcmp(lane.at, what) != 0) fail("lanes of a warp wait at different places");
    all = all && lane.vote;
    any = any || lane.vote;
  }
  if (complete) {
    for (uint32_t thread = first; thread < first + kWarp; ++thread) {
      machine->fibers[thread].waits = false;
      machine->fibers[thread].result = need_all ? all : any;
    }
  } else {
    back_to_scheduler();
  }
  return self.result;
}

void barrier(uint32_t index, uint32_t threads) {
  auto& waiting = machine->barriers[index];
  Fiber& self = machine->fibers[machine->current];
  self.waits = true;
  self.at = "barrier";
  waiting.push_back(machine->current);
  if (waiting.size() == threads) {
    for (uint32_t thread : waiting) machine->fibers[thread].waits = false;
    waiting.clear();
  } else {
    back_to_scheduler();
  }
}

void later(std::function<void()> work) { machine->pending.push_back(std::move(work)); }

}  // namespace purlin::emulator
