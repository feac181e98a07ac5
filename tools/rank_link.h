// How the ranks of one run tell each other small facts: through memory when they are threads,
// through the communicator under test when they are processes.
#pragma once

#include <barrier>
#include <cstddef>
#include <memory>
#include <vector>

#include "purlin/purlin.h"
#include "tools/outcome.h"
#include "tools/rank_device.h"

namespace purlin::tools {

// One rank's end. Used by that rank's thread alone.
class RankLink {
 public:
  virtual ~RankLink() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Every rank's `bytes` bytes at `mine` arrive in `all`, in rank order. Also a sync point. Fails
  // only between processes, when the communicator does.
  virtual Done gather(const void* mine, size_t bytes, void* all) = 0;

  // The ranks of this process, for work they share: this one's index and their number.
  virtual int local_index() const = 0;
  virtual int local_size() const = 0;
  virtual void local_barrier() = 0;
  // Scratch memory that the ranks of this process share; whoever resizes it stands between two
  // local barriers.
  virtual std::vector<unsigned char>& local_scratch() = 0;

  // Every rank's T, which must be trivially copyable.
  template <class T>
  Outcome<std::vector<T>> gather_all(const T& mine) {
    std::vector<T> all(static_cast<size_t>(size()));
    const Done gathered = gather(&mine, sizeof(T), all.data());
    if (!gathered) return Error{gathered.error()};
    return all;
  }

  // Done if every rank is; otherwise this rank's own error, or one that names a rank that failed.
  Done agree(const Done& mine);
};

// Ranks that are threads of this process share one hub, which outlives their links.
class ThreadHub {
 public:
  explicit ThreadHub(int nranks) : nranks_(nranks), barrier_(nranks) {}
  std::unique_ptr<RankLink> link(int rank);

 private:
  friend class ThreadLink;
  int nranks_;
  std::barrier<> barrier_;
  std::vector<unsigned char> board_, scratch_;
};

// A rank that is a process by itself. `comm` and `device` outlive the link.
std::unique_ptr<RankLink> process_link(purlin_comm_t comm, int rank, int nranks,
                                       RankDevice& device);

}  // namespace purlin::tools
