#include "tools/rank_link.h"

#include <fmt/format.h>

#include <cstring>

namespace purlin::tools {

class ThreadLink : public RankLink {
 public:
  ThreadLink(ThreadHub& hub, int rank) : hub_(hub), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return hub_.nranks_; }
  int local_index() const override { return rank_; }
  int local_size() const override { return hub_.nranks_; }
  void local_barrier() override { hub_.barrier_.arrive_and_wait(); }
  std::vector<unsigned char>& local_scratch() override { return hub_.scratch_; }

  Done gather(const void* mine, size_t bytes, void* all) override {
    if (rank_ == 0) hub_.board_.resize(bytes * static_cast<size_t>(size()));
    local_barrier();
    std::memcpy(hub_.board_.data() + bytes * static_cast<size_t>(rank_), mine, bytes);
    local_barrier();
    std::memcpy(all, hub_.board_.data(), hub_.board_.size());
    local_barrier();
    return done();
  }

 private:
  ThreadHub& hub_;
  int rank_;
};

std::unique_ptr<RankLink> ThreadHub::link(int rank) {
  return std::make_unique<ThreadLink>(*this, rank);
}

namespace {

class ProcessLink : public RankLink {
 public:
  ProcessLink(purlin_comm_t comm, int rank, int nranks, RankDevice& device)
      : comm_(comm), rank_(rank), size_(nranks), device_(device) {}
  ~ProcessLink() override {
    if (board_) device_.release(board_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_index() const override { return 0; }
  int local_size() const override { return 1; }
  void local_barrier() override {}
  std::vector<unsigned char>& local_scratch() override { return scratch_; }

  Done gather(const void* mine, size_t bytes, void* all) override {
    if (device_.separate_memory()) return gather_by_copy(mine, bytes, all);
    return all_gather(mine, bytes, all);
  }

 private:
  Done all_gather(const void* mine, size_t bytes, void* all) {
    if (purlin_all_gather(mine, all, bytes, PURLIN_U8, comm_, device_.stream()) != PURLIN_OK)
      return Error{purlin_last_error()};
    return done();
  }

  Done gather_by_copy(const void* mine, size_t bytes, void* all) {
    const size_t total = bytes * static_cast<size_t>(size_ + 1);
    if (total > board_bytes_) {
      if (board_) device_.release(board_);
      board_ = nullptr;
      board_bytes_ = 0;
      auto made = device_.allocate(total);
      if (!made) return Error{made.error()};
      board_ = *made;
      board_bytes_ = total;
    }
    Done step = device_.copy_in(board_, mine, bytes);
    if (step) step = all_gather(board_, bytes, board_ + bytes);
    if (step) step = device_.finish(comm_);
    if (step) step = device_.copy_out(all, board_ + bytes, total - bytes);
    return step;
  }

  purlin_comm_t comm_;
  int rank_, size_;
  RankDevice& device_;
  unsigned char* board_ = nullptr;  // this rank's part, then everybody's
  size_t board_bytes_ = 0;
  std::vector<unsigned char> scratch_;
};

}  // namespace

std::unique_ptr<RankLink> process_link(purlin_comm_t comm, int rank, int nranks,
                                       RankDevice& device) {
  return std::make_unique<ProcessLink>(comm, rank, nranks, device);
}

Done RankLink::agree(const Done& mine) {
  const auto failed = gather_all(mine ? 0 : 1);
  if (!mine) return mine;
  if (!failed) return Error{failed.error()};
  for (size_t r = 0; r < failed->size(); ++r)
    if ((*failed)[r]) return Error{fmt::format("rank {} failed", r)};
  return done();
}

}  // namespace purlin::tools
