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
  ProcessLink(purlin_comm_t comm, int rank, int nranks) : comm_(comm), rank_(rank), size_(nranks) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_index() const override { return 0; }
  int local_size() const override { return 1; }
  void local_barrier() override {}
  std::vector<unsigned char>& local_scratch() override { return scratch_; }

  Done gather(const void* mine, size_t bytes, void* all) override {
    if (purlin_all_gather(mine, all, bytes, PURLIN_U8, comm_, nullptr) != PURLIN_OK)
      return Error{purlin_last_error()};
    return done();
  }

 private:
  purlin_comm_t comm_;
  int rank_, size_;
  std::vector<unsigned char> scratch_;
};

}  // namespace

std::unique_ptr<RankLink> process_link(purlin_comm_t comm, int rank, int nranks) {
  return std::make_unique<ProcessLink>(comm, rank, nranks);
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
