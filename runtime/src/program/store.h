// Finds or makes programs: the ladder, once per process and once per machine.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "program/program.h"
#include "program/request.h"
#include "program/sources.h"
#include "program/trace.h"
#include "status/status.h"

namespace purlin {

// What came of one request.
struct ProgramOutcome {
  Result<ProgramHandle> program;
  ProgramTrace trace;
};

// Thread-safe. Threads that ask for the same program at the same time share one making; afterwards
// it is held in memory for the store's life. A failure is not remembered: the next caller tries
// again.
class ProgramStore {
 public:
  explicit ProgramStore(ProgramSources sources);
  ~ProgramStore();
  ProgramStore(const ProgramStore&) = delete;
  ProgramStore& operator=(const ProgramStore&) = delete;

  // The ladder, first rung that serves:
  //   1. a finished program in the plugin, or in a prelinked folder;
  //   2. the cache;
  //   3. a link, whose result goes into the cache.
  // Blocks; a wait for another process is bounded by lock_timeout_ms. PURLIN_LINK_ERROR carries the
  // whole trace and both remedies.
  ProgramOutcome get(const ProgramRequest& request);
  // All of them, in parallel on at most `jobs` threads; outcomes in the order of the requests.
  // `progress`, if any, is called once a request, one call at a time.
  using Progress = std::function<void(int done, int total, const std::string& name)>;
  std::vector<ProgramOutcome> get_all(std::span<const ProgramRequest> requests,
                                      const Progress& progress = {});
  // The program if it need not be linked: in memory, finished or cached; else nullptr, also while
  // somebody makes it. Reads files.
  ProgramHandle find(const ProgramRequest& request);
  // The program if it is in memory already, without blocking on files or links; else nullptr. Hashes
  // all images (about 1 ms for 300 KB): keep the handle rather than ask for it at every call.
  ProgramHandle peek(const ProgramRequest& request) const;
  const ProgramSources& sources() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The store that all communicators of the process share, made from the environment on first use.
ProgramStore& process_store();

}  // namespace purlin
