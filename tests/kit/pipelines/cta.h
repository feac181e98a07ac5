// A CTA on the CPU: every thread is a fiber, scheduled at random but repeatably, so that the
// pipelines of the kit run as they are, without a GPU. Asynchronous copies are carried out at
// random later times.
//
// It finds deadlocks, lanes of a warp that disagree where they must not, barriers that are overrun,
// copies that nobody waited for, and wrong bytes. Memory order it does not find: fibers share one
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace purlin::emulator {

struct Outcome {
  std::string failure;  // empty: all threads returned and nothing was left under way
  uint64_t steps = 0;
};

// Runs body(thread) for threads 0 .. threads-1, whole warps, with `shared` bytes of shared memory
// that hold garbage. `patience`: steps after which the CTA is taken to hang.
Outcome run_cta(uint32_t threads, uint64_t shared, uint64_t seed, uint64_t patience,
                const std::function<void(uint32_t)>& body);

// ---- For the emulated headers, called by a fiber
// -------------------------------------------------

uint32_t this_thread();
uint64_t random_number();
void* shared_memory();                              // aligned to 1024
void* shared_at(uint32_t address, uint32_t bytes);  // fails when outside
// Lets others run.
void pause();
// Ends the run. Also from work that is carried out later.
[[noreturn]] void fail(const std::string& what);
// Waits until all lanes of the warp, or `threads` threads of the CTA, have come to the same place.
bool warp_vote(bool mine, bool need_all, const char* what);
void barrier(uint32_t index, uint32_t threads);
// Carried out later, by nobody in particular, in any order.
void later(std::function<void()> work);

}  // namespace purlin::emulator
