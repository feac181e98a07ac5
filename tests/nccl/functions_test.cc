// Functions that belong to no call: memory, registration, texts, teams, and what is not offered.
#include <cstring>

#include "library.h"

namespace purlin::test {
namespace {

TEST_CASE("memory is given and taken back") {
  void* memory = nullptr;
  CHECK(lib().GroupStart() == kSuccess);
  REQUIRE(lib().MemAlloc(&memory, 100) == kSuccess);
  CHECK(reinterpret_cast<uintptr_t>(memory) % 4096 == 0);
  std::memset(memory, 1, 100);
  CHECK(lib().GroupEnd() == kSuccess);
  CHECK(lib().MemFree(memory) == kSuccess);
  CHECK(lib().MemFree(nullptr) == kSuccess);
  CHECK(lib().MemAlloc(nullptr, 8) == kInvalidArgument);
  CHECK(lib().MemAlloc(&memory, 0) == kSuccess);
  CHECK(memory == nullptr);
  int local = 0;
  CHECK(lib().MemFree(&local) != kSuccess);
}

TEST_CASE("registered ranges have handles, and calls work on them") {
  Ranks ranks(2);
  int buffers[2][64] = {{1}, {2}};
  void* handles[2] = {};
  const Result registered = ranks.group([&](int r) {
    return lib().CommRegister(ranks[r], buffers[r], sizeof buffers[r], &handles[r]);
  });
  CHECK_MESSAGE(registered == kSuccess, last_text());
  void* alone = nullptr;
  CHECK(lib().CommRegister(ranks[0], buffers[0], 64, &alone) == kSuccess);
  const Result reduced = ranks.group([&](int r) {
    return lib().AllReduce(buffers[r], buffers[r], 64, 2, kSum, ranks[r], nullptr);
  });
  CHECK(reduced == kSuccess);
  CHECK(buffers[1][0] == 3);
  CHECK(lib().CommDeregister(ranks[0], alone) == kSuccess);
  CHECK(lib().CommDeregister(ranks[0], alone) == kInvalidArgument);
  CHECK(lib().CommDeregister(ranks[0], nullptr) == kInvalidArgument);
  for (int r = 0; r < 2; ++r) CHECK(lib().CommDeregister(ranks[r], handles[r]) == kSuccess);
  CHECK(lib().CommRegister(ranks[0], nullptr, 64, &alone) == kInvalidArgument);
  CHECK(lib().CommRegister(ranks[0], buffers[0], 0, &alone) == kInvalidArgument);
  CHECK(lib().CommRegister(ranks[0], buffers[0], 64, nullptr) == kInvalidArgument);
}

TEST_CASE("what a group registers and deregisters is registered no more after it") {
  Ranks ranks(2);
  int buffers[2][64] = {};
  void* handles[2] = {};
  for (int round = 0; round < 257; ++round) {  // one more than can be open
    const Result done = ranks.group([&](int r) {
      const Result first = lib().CommRegister(ranks[r], buffers[r], sizeof buffers[r], &handles[r]);
      return first != kSuccess ? first : lib().CommDeregister(ranks[r], handles[r]);
    });
    REQUIRE_MESSAGE(done == kSuccess, last_text());
    for (int r = 0; r < 2; ++r)
      REQUIRE(lib().CommDeregister(ranks[r], handles[r]) == kInvalidArgument);
  }
  WindowHandle windows[2] = {};
  const Result registered = ranks.group([&](int r) {
    return lib().CommWindowRegister(ranks[r], buffers[r], sizeof buffers[r], &windows[r], 0);
  });
  CHECK(registered == kSuccess);
  CHECK(windows[0] != nullptr);
  for (int r = 0; r < 2; ++r) CHECK(lib().CommWindowDeregister(ranks[r], windows[r]) == kSuccess);
}

TEST_CASE("registrations end with their communicator at the latest") {
  Ranks ranks(2);
  int buffers[2][64] = {};
  void* handles[2] = {};
  WindowHandle windows[2] = {};
  const Result registered = ranks.group([&](int r) {
    const Result first = lib().CommRegister(ranks[r], buffers[r], 64, &handles[r]);
    return first != kSuccess
               ? first
               : lib().CommWindowRegister(ranks[r], buffers[r], sizeof buffers[r], &windows[r], 0);
  });
  CHECK(registered == kSuccess);
  CHECK(lib().CommFinalize(ranks[0]) == kSuccess);
  CHECK(lib().CommDeregister(ranks[0], handles[0]) == kSuccess);
  CHECK(lib().CommWindowDeregister(ranks[0], windows[0]) == kSuccess);
}

TEST_CASE("a window is null, with a reason, where memory cannot be shared") {
  Ranks ranks(2);
  int buffers[2][64] = {};
  WindowHandle windows[2] = {};
  const Result registered = ranks.group([&](int r) {
    return lib().CommWindowRegister(ranks[r], buffers[r], sizeof buffers[r], &windows[r], 1);
  });
  CHECK_MESSAGE(registered == kSuccess, last_text());
  CHECK((windows[0] == nullptr) == (windows[1] == nullptr));
  if (windows[0] == nullptr) CHECK(last_text().find("staged") != std::string::npos);
  for (int r = 0; r < 2; ++r) CHECK(lib().CommWindowDeregister(ranks[r], windows[r]) == kSuccess);
  CHECK(lib().CommWindowRegister(ranks[0], buffers[0], 8, &windows[0], 2) == kInvalidArgument);
  CHECK(lib().CommWindowDeregister(ranks[0], reinterpret_cast<WindowHandle>(99)) ==
        kInvalidArgument);
}

TEST_CASE("calls on memory of ncclMemAlloc in windows, in place and not, are right") {
  constexpr int kRanks = 3;
  constexpr size_t kCount = 30'000;
  Ranks ranks(kRanks);
  int* buffers[kRanks] = {};
  WindowHandle windows[kRanks] = {};
  for (int*& buffer : buffers) {
    void* memory = nullptr;
    REQUIRE(lib().MemAlloc(&memory, 2 * kCount * sizeof(int)) == kSuccess);
    buffer = static_cast<int*>(memory);
  }
  const Result registered = ranks.group([&](int r) {
    return lib().CommWindowRegister(ranks[r], buffers[r], 2 * kCount * sizeof(int), &windows[r], 1);
  });
  CHECK_MESSAGE(registered == kSuccess, last_text());
  for (int round = 0; round < 4; ++round) {
    int* outputs[kRanks];
    for (int r = 0; r < kRanks; ++r) {
      outputs[r] = buffers[r] + (round % 2 == 0 ? 0 : kCount);
      for (size_t i = 0; i < kCount; ++i) buffers[r][i] = r * 1000 + round + static_cast<int>(i);
    }
    const Result ran = ranks.group([&](int r) {
      return lib().AllReduce(buffers[r], outputs[r], kCount, 2, kSum, ranks[r], nullptr);
    });
    CHECK_MESSAGE(ran == kSuccess, last_text());
    size_t wrong = 0;
    for (const int* output : outputs)
      for (size_t i = 0; i < kCount; ++i)
        wrong += output[i] != 3000 + kRanks * (round + static_cast<int>(i));
    CHECK(wrong == 0);
  }
  for (int r = 0; r < kRanks; ++r) {
    CHECK(lib().CommWindowDeregister(ranks[r], windows[r]) == kSuccess);
    CHECK(lib().MemFree(buffers[r]) == kSuccess);
  }
}

TEST_CASE("what is not offered says so, and without a communicator that is the fault") {
  Ranks ranks(1);
  char room[256] = {};
  const auto refused = [](Result result, const char* name) {
    CHECK(result == kInvalidUsage);
    CHECK_MESSAGE(last_text().find(name) != std::string::npos, last_text());
    CHECK(last_text().find("not offered") != std::string::npos);
  };
  refused(lib().CommRevoke(ranks[0], 0), "ncclCommRevoke");
  refused(lib().DevCommCreate(ranks[0], room, room), "ncclDevCommCreate");
  refused(lib().DevCommDestroy(ranks[0], room), "ncclDevCommDestroy");
  refused(lib().GinBarrierCreateRequirement(ranks[0], Team{1, 0, 1}, 1, room, room),
          "ncclGinBarrierCreateRequirement");
  refused(lib().LLA2ACreateRequirement(1, 1, room, room), "ncclLLA2ACreateRequirement");
  refused(lib().LsaBarrierCreateRequirement(Team{1, 0, 1}, 1, room, room),
          "ncclLsaBarrierCreateRequirement");
  refused(lib().GroupSimulateEnd(room), "ncclGroupSimulateEnd");
  CHECK(lib().CommRevoke(nullptr, 0) == kInvalidArgument);
  CHECK(lib().DevCommCreate(nullptr, room, room) == kInvalidArgument);
  CHECK(lib().DevCommDestroy(nullptr, room) == kInvalidArgument);
  CHECK(lib().GinBarrierCreateRequirement(nullptr, Team{1, 0, 1}, 1, room, room) ==
        kInvalidArgument);
  for (char byte : room) CHECK(byte == 0);
}

TEST_CASE("every function that takes a communicator refuses what is none") {
  const auto wrong = reinterpret_cast<CommHandle>(0x77);
  int number = 0;
  void* pointer = nullptr;
  WindowHandle window = nullptr;
  Result state = kSuccess;
  for (const CommHandle comm : {CommHandle{}, wrong}) {
    const auto& l = lib();
    const Result results[] = {
        l.CommSplit(comm, 0, 0, &const_cast<CommHandle&>(comm), nullptr),
        l.CommShrink(comm, &number, 1, &const_cast<CommHandle&>(comm), nullptr, 0),
        l.CommFinalize(comm),
        l.CommGetAsyncError(comm, &state),
        l.CommCount(comm, &number),
        l.CommCuDevice(comm, &number),
        l.CommUserRank(comm, &number),
        l.AllReduce(&number, &number, 1, 2, kSum, comm, nullptr),
        l.AllGather(&number, &number, 1, 2, comm, nullptr),
        l.ReduceScatter(&number, &number, 1, 2, kSum, comm, nullptr),
        l.AlltoAll(&number, &number, 1, 2, comm, nullptr),
        l.Broadcast(&number, &number, 1, 2, 0, comm, nullptr),
        l.Bcast(&number, 1, 2, 0, comm, nullptr),
        l.Reduce(&number, &number, 1, 2, kSum, 0, comm, nullptr),
        l.Gather(&number, &number, 1, 2, 0, comm, nullptr),
        l.Scatter(&number, &number, 1, 2, 0, comm, nullptr),
        l.Send(&number, 1, 2, 0, comm, nullptr),
        l.Recv(&number, 1, 2, 0, comm, nullptr),
        l.RedOpCreatePreMulSum(&number, &number, 2, kScalarOnHost, comm),
        l.RedOpDestroy(5, comm),
        l.CommRegister(comm, &number, 4, &pointer),
        l.CommDeregister(comm, pointer),
        l.CommWindowRegister(comm, &number, 4, &window, 0),
        l.CommWindowDeregister(comm, window)};
    for (const Result result : results) CHECK(result == kInvalidArgument);
  }
  CHECK(lib().CommDestroy(wrong) == kInvalidArgument);
  CHECK(lib().CommAbort(wrong) == kInvalidArgument);
  CHECK(lib().CommDestroy(nullptr) == kSuccess);
}

TEST_CASE("teams and slots are arithmetic") {
  Ranks ranks(3);
  const Team world = lib().TeamWorld(ranks[1]), near = lib().TeamLsa(ranks[1]),
             rail = lib().TeamRail(ranks[1]);
  CHECK((world.ranks == 3 && world.rank == 1 && world.stride == 1));
  CHECK((near.ranks == 3 && near.rank == 1 && near.stride == 1));
  CHECK((rail.ranks == 1 && rail.rank == 0));
  CHECK(lib().TeamRankToWorld(ranks[1], world, 2) == 2);
  CHECK(lib().TeamRankToWorld(ranks[1], rail, 0) == 1);
  CHECK(lib().TeamRankToLsa(ranks[1], near, 0) == 0);
  CHECK(lib().TeamWorld(nullptr).ranks == 0);
  CHECK(lib().TeamRankToWorld(nullptr, world, 0) == -1);
  CHECK(lib().LLA2ACalcSlots(10, 8) == 10);
  CHECK(lib().LLA2ACalcSlots(10, 9) == 20);
}

TEST_CASE("results have texts") {
  for (int code = kSuccess; code <= kInProgress; ++code)
    CHECK(std::strlen(lib().GetErrorString(static_cast<Result>(code))) > 4);
  CHECK(std::strlen(lib().GetErrorString(static_cast<Result>(77))) > 4);
  CHECK(lib().GetVersion(nullptr) == kInvalidArgument);
  CHECK(last_text() == "version is null");
  lib().ResetDebugInit();
}

}  // namespace
}  // namespace purlin::test
