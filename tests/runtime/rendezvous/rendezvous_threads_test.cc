#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "memory/shared_memory.h"
#include "runtime/rendezvous/rank_process.h"
#include "runtime/rendezvous/rank_threads.h"

namespace {

using namespace purlin_test;
using purlin::OwnedFd;
using purlin::Rendezvous;
using purlin::SharedMemory;
using purlin::Status;

std::vector<std::byte> pattern(int rank, size_t bytes) {
  std::vector<std::byte> out(bytes);
  for (size_t i = 0; i < bytes; ++i)
    out[i] = static_cast<std::byte>((i * 31 + static_cast<size_t>(rank) * 7) & 0xff);
  return out;
}

// Lengths 0, 1, …, and several packets.
size_t length_of(int rank) {
  const auto r = static_cast<size_t>(rank);
  return rank == 2 ? 40'000 : rank % 3 == 0 ? r : 700 * r;
}

std::string exchange_everything(Rendezvous& seat) {
  const int n = seat.size();
  const auto blobs = seat.all_gather_blob(pattern(seat.rank(), length_of(seat.rank())));
  PURLIN_RANK_OK(blobs.status());
  for (int r = 0; r < n; ++r)
    PURLIN_RANK_CHECK((*blobs)[static_cast<size_t>(r)] == pattern(r, length_of(r)));

  auto memory = SharedMemory::create("purlin-test-exchange", 4096);
  PURLIN_RANK_OK(memory.status());
  memory->data()[0] = static_cast<std::byte>(seat.rank() + 1);
  // Rank r gives r % 3 descriptors of its memory.
  const std::vector<int> mine(static_cast<size_t>(seat.rank() % 3), memory->fd());
  auto all = seat.all_gather_fds(mine);
  PURLIN_RANK_OK(all.status());
  for (int r = 0; r < n; ++r) {
    auto& given = (*all)[static_cast<size_t>(r)];
    PURLIN_RANK_CHECK(given.size() == static_cast<size_t>(r % 3));
    for (OwnedFd& fd : given) {
      PURLIN_RANK_CHECK((::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
      auto peer = SharedMemory::adopt(std::move(fd), 4096);
      PURLIN_RANK_OK(peer.status());
      PURLIN_RANK_CHECK(peer->data()[0] == static_cast<std::byte>(r + 1));
    }
  }
  const int root = n - 1;
  const int root_fd = memory->fd();
  auto shared = seat.broadcast_fds(root, {&root_fd, 1});
  PURLIN_RANK_OK(shared.status());
  PURLIN_RANK_CHECK(shared->size() == 1);
  auto of_root = SharedMemory::adopt(std::move((*shared)[0]), 4096);
  PURLIN_RANK_OK(of_root.status());
  PURLIN_RANK_CHECK(of_root->data()[0] == static_cast<std::byte>(root + 1));

  PURLIN_RANK_OK(seat.barrier());
  PURLIN_RANK_OK(seat.agree(Status()));
  const Status mine_failed(PURLIN_PLUGIN_ERROR, "no plugin on rank " + std::to_string(seat.rank()));
  const Status verdict = seat.agree(seat.rank() >= n / 2 ? mine_failed : Status());
  PURLIN_RANK_CHECK(verdict.code() == PURLIN_PLUGIN_ERROR);
  const std::string first = std::to_string(n / 2);
  PURLIN_RANK_CHECK(verdict.message() == "rank " + first + ": no plugin on rank " + first);
  return "";
}

}  // namespace

TEST_CASE("ranks as threads meet and exchange, parked or not") {
  const int before = open_descriptors();
  for (const int n : {1, 2, 3, 4, 5, 6, 7, 8, 32}) {
    CAPTURE(n);
    const auto address = fresh_address();
    std::vector<purlin::Identity> identities(static_cast<size_t>(n));
    const auto said = run_ranks(n, [&](int rank) -> std::string {
      auto joined = Rendezvous::join(options_for(address, rank, n));
      PURLIN_RANK_OK(joined.status());
      Rendezvous& seat = **joined;
      PURLIN_RANK_CHECK(seat.rank() == rank && seat.size() == n && seat.token_used());
      identities[static_cast<size_t>(rank)] = seat.identity();
      for (int r = 0; r < n; ++r)
        PURLIN_RANK_CHECK(seat.same_process(r) && seat.process_of(r) == ::getpid());
      for (int round = 0; round < 3; ++round) {
        if (auto text = exchange_everything(seat); !text.empty()) return text;
        PURLIN_RANK_OK(seat.park());
        if (round == 1) PURLIN_RANK_OK(seat.park());  // twice is once
      }
      PURLIN_RANK_CHECK(seat.liveness().lost_rank() == -1);
      return "";
    });
    for (const auto& text : said) CHECK(text == "");
    for (const auto& identity : identities) CHECK(identity == identities[0]);
    CHECK(sockets_named(address.name) == 0);
  }
  CHECK(open_descriptors() == before);
}

TEST_CASE("large blobs and many descriptors are cut into packets") {
  const auto address = fresh_address();
  constexpr size_t kBytes = 5'000'001;
  const auto said = run_ranks(3, [&](int rank) -> std::string {
    auto joined = Rendezvous::join(options_for(address, rank, 3));
    PURLIN_RANK_OK(joined.status());
    const auto blobs = (*joined)->all_gather_blob(pattern(rank, kBytes));
    PURLIN_RANK_OK(blobs.status());
    for (int r = 0; r < 3; ++r)
      PURLIN_RANK_CHECK((*blobs)[static_cast<size_t>(r)] == pattern(r, kBytes));
    OwnedFd file(::memfd_create("purlin-test-many", MFD_CLOEXEC));
    const auto all = (*joined)->all_gather_fds(std::vector<int>(300, file.get()));
    PURLIN_RANK_OK(all.status());
    for (const auto& given : *all) PURLIN_RANK_CHECK(given.size() == 300);
    return "";
  });
  for (const auto& text : said) CHECK(text == "");
}

TEST_CASE("one id serves one communicator after the other, however fast ranks come again") {
  const auto address = fresh_address();
  const auto said = run_ranks(4, [&](int rank) -> std::string {
    for (int i = 0; i < 100; ++i) {
      auto joined = Rendezvous::join(options_for(address, rank, 4));
      PURLIN_RANK_OK(joined.status());
      const std::byte number{static_cast<unsigned char>(i)};
      const auto all = (*joined)->all_gather_blob({&number, 1});
      PURLIN_RANK_OK(all.status());
      for (const auto& blob : *all) PURLIN_RANK_CHECK(blob.size() == 1 && blob[0] == number);
    }
    return "";
  });
  for (const auto& text : said) CHECK(text == "");
}

TEST_CASE("sixty communicators in a burst, and idle ones hold no descriptor") {
  constexpr int kCommunicators = 60;
  const int before = open_descriptors();
  std::vector<purlin::Address> addresses;
  for (int c = 0; c < kCommunicators; ++c) addresses.push_back(fresh_address());
  std::vector<std::unique_ptr<Rendezvous>> seats(2 * kCommunicators);
  const auto said = run_ranks(2 * kCommunicators, [&](int thread) -> std::string {
    const auto& address = addresses[static_cast<size_t>(thread / 2)];
    auto joined = Rendezvous::join(options_for(address, thread % 2, 2));
    PURLIN_RANK_OK(joined.status());
    seats[static_cast<size_t>(thread)] = std::move(joined).value();
    return seats[static_cast<size_t>(thread)]->park().message();
  });
  for (const auto& text : said) CHECK(text == "");
  CHECK(open_descriptors() == before);
  const auto again = run_ranks(2 * kCommunicators, [&](int thread) -> std::string {
    return seats[static_cast<size_t>(thread)]->barrier().message();
  });
  for (const auto& text : again) CHECK(text == "");
}

TEST_CASE("leaving is seen by the others and is no loss") {
  const auto address = fresh_address();
  const auto said = run_ranks(2, [&](int rank) -> std::string {
    auto joined = Rendezvous::join(options_for(address, rank, 2));
    PURLIN_RANK_OK(joined.status());
    Rendezvous& seat = **joined;
    if (rank == 1) return "";  // destroyed here
    const Status status = seat.barrier();
    PURLIN_RANK_CHECK(status.code() == PURLIN_PEER_LOST);
    PURLIN_RANK_CHECK(contains(status.message(), "rank 1"));
    PURLIN_RANK_CHECK(contains(status.message(), "has destroyed the communicator"));
    PURLIN_RANK_CHECK(seat.liveness().state(1) == purlin::PeerState::kLeft);
    PURLIN_RANK_CHECK(seat.liveness().lost_rank() == -1);
    const Status again = seat.agree(Status());  // broken: the same error
    PURLIN_RANK_CHECK(again.code() == status.code() && again.message() == status.message());
    return "";
  });
  for (const auto& text : said) CHECK(text == "");
}

TEST_CASE("a reunion fails at once when a member has left") {
  const auto address = fresh_address();
  std::atomic<bool> left{false};
  const auto said = run_ranks(3, [&](int rank) -> std::string {
    auto joined = Rendezvous::join(options_for(address, rank, 3));
    PURLIN_RANK_OK(joined.status());
    Rendezvous& seat = **joined;
    PURLIN_RANK_OK(seat.park());
    if (rank == 2) {
      joined->reset();
      left = true;
      return "";
    }
    while (!left) std::this_thread::yield();
    const Status status = seat.barrier();
    PURLIN_RANK_CHECK(status.code() == PURLIN_PEER_LOST);
    PURLIN_RANK_CHECK(contains(status.message(), "rank 2"));
    return "";
  });
  for (const auto& text : said) CHECK(text == "");
}
