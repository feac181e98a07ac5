#include "kit/pipelines/copies.h"

#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "kit/pipelines/cta.h"

namespace purlin::emulator {
namespace {

struct Group {
  uint32_t unread = 0;
  uint32_t unwritten = 0;
};

struct Thread {
  std::shared_ptr<Group> open_words = std::make_shared<Group>();
  std::vector<std::shared_ptr<Group>> words;
  std::shared_ptr<Group> open_bulk = std::make_shared<Group>();
  std::vector<std::shared_ptr<Group>> bulk;
};

struct Mbarrier {
  uint32_t arrivals = 0;
  uint32_t missing = 0;
  int64_t bytes = 0;  // announced and not yet brought
  uint64_t phase = 0;

  void turn() {
    if (missing != 0 || bytes != 0) return;
    missing = arrivals;
    ++phase;
  }
};

std::map<uint32_t, Thread> threads;
std::map<uint32_t, Mbarrier> mbarriers;

Thread& self() { return threads[this_thread()]; }

Mbarrier& mbarrier_at(uint32_t barrier) {
  const auto found = mbarriers.find(barrier);
  if (found == mbarriers.end()) fail("an mbarrier that nobody initialized");
  return found->second;
}

void need(bool holds, const char* what) {
  if (!holds) fail(what);
}

template <class Left>
void await(const std::vector<std::shared_ptr<Group>>& groups, uint32_t left, Left under_way) {
  for (;;) {
    bool wait = false;
    for (size_t g = 0; g + left < groups.size(); ++g) wait = wait || under_way(*groups[g]) != 0;
    if (!wait) return;
    pause();
  }
}

}  // namespace

void reset_copies() {
  threads.clear();
  mbarriers.clear();
}

void copy_word(uint32_t shared, uint64_t global) {
  need(shared % 16 == 0 && global % 16 == 0, "a copy of a word that is not aligned");
  auto group = self().open_words;
  ++group->unwritten;
  later([=] {
    std::memcpy(shared_at(shared, 16), reinterpret_cast<const void*>(global), 16);
    --group->unwritten;
  });
}
void commit_words() {
  self().words.push_back(std::move(self().open_words));
  self().open_words = std::make_shared<Group>();
}
void await_words(uint32_t left) {
  await(self().words, left, [](const Group& group) { return group.unwritten; });
}

void init_mbarrier(uint32_t barrier, uint32_t arrivals) {
  need(barrier % 8 == 0, "an mbarrier that is not aligned");
  shared_at(barrier, 8);
  mbarriers[barrier] = {arrivals, arrivals, 0, 0};
}
void arrive_mbarrier(uint32_t barrier, uint32_t count, uint32_t bytes) {
  Mbarrier& at = mbarrier_at(barrier);
  need(at.missing >= count, "more arrivals at an mbarrier than its phase has");
  at.bytes += bytes;
  at.missing -= count;
  at.turn();
}
bool mbarrier_complete(uint32_t barrier, uint32_t parity) {
  pause();
  return (mbarrier_at(barrier).phase & 1) != parity;
}

void bulk_load(uint32_t shared, uint64_t global, uint32_t bytes, uint32_t barrier) {
  need(bytes != 0, "a bulk load of no bytes");
  need((shared | global | bytes) % 16 == 0, "a bulk load that is not aligned");
  shared_at(shared, bytes);
  later([=] {
    std::memcpy(shared_at(shared, bytes), reinterpret_cast<const void*>(global), bytes);
    Mbarrier& at = mbarrier_at(barrier);
    at.bytes -= bytes;
    at.turn();
  });
}
void bulk_store(uint64_t global, uint32_t shared, uint32_t bytes) {
  need(bytes != 0, "a bulk store of no bytes");
  need((shared | global | bytes) % 16 == 0, "a bulk store that is not aligned");
  shared_at(shared, bytes);
  auto group = self().open_bulk;
  ++group->unread;
  ++group->unwritten;
  later([=] {
    const auto* from = static_cast<const char*>(shared_at(shared, bytes));
    std::vector<char> read(from, from + bytes);
    --group->unread;
    later([=] {
      std::memcpy(reinterpret_cast<void*>(global), read.data(), read.size());
      --group->unwritten;
    });
  });
}
void commit_bulk() {
  self().bulk.push_back(std::move(self().open_bulk));
  self().open_bulk = std::make_shared<Group>();
}
void await_bulk(uint32_t left, bool reads_only) {
  await(self().bulk, left,
        [=](const Group& group) { return reads_only ? group.unread : group.unwritten; });
}

}  // namespace purlin::emulator
