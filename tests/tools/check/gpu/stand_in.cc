#include "stand_in.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "purlin/purlin.h"
#include "tools/check/gpu/format.h"

namespace purlin::tools::check {
namespace {

unsigned char* memory(uint64_t address) { return reinterpret_cast<unsigned char*>(address); }

void set_fault(WalkReport& report, GpuFault fault, uint64_t index, uint64_t found) {
  if (report.fault != kNoFault) return;
  report.fault = fault;
  report.index = index;
  report.found = found;
}

void fill_sources(const WalkSegment& s) {
  for (uint32_t r = 0; r < s.nsrc; ++r)
    std::copy_n(memory(s.original[r]), s.bytes, memory(s.src[r]));
}

void move(const WalkSegment& s, Misdeed misdeed) {
  for (uint32_t k = 0; k < s.ndst; ++k) {
    uint64_t bytes = s.bytes;
    if (misdeed == Misdeed::kLosesLastByte && bytes != 0) --bytes;
    std::copy_n(memory(s.expected), bytes, memory(s.dst[k]));
    if (misdeed == Misdeed::kWritesBeside) memory(s.dst[k])[s.bytes] ^= 1;
  }
  const bool apart = std::find(s.dst, s.dst + s.ndst, s.src[0]) == s.dst + s.ndst;
  if (misdeed == Misdeed::kWritesSource && apart && s.bytes != 0) memory(s.src[0])[0] ^= 1;
}

void walk(WalkBoard& board, Misdeed misdeed, unsigned threads) {
  if (board.segments % alignof(WalkSegment) != 0) std::abort();  // a GPU faults there
  auto* segments = reinterpret_cast<WalkSegment*>(board.segments);
  WalkReport& report = board.report;
  if (misdeed == Misdeed::kSwaps && board.count > 1) return set_fault(report, kReadyOrder, 1, 0);
  if (misdeed == Misdeed::kLoneGate) return set_fault(report, kReadyLanes, 0, 1);
  if (misdeed == Misdeed::kLoneAnnouncer) return set_fault(report, kDoneLanes, 0, 1);
  for (uint64_t i = 0; i < board.count; ++i) {
    const WalkSegment& s = segments[i];
    fill_sources(s);
    ++report.ready_calls;
    if (i == board.stop_at) {
      report.stopped = 1;
      if (misdeed == Misdeed::kIgnoresStop) set_fault(report, kDoneBeyondStop, i, i);
      if (misdeed == Misdeed::kMovesStopped) move(s, Misdeed::kNone);
      break;
    }
    report.granted = i + 1;
    move(s, misdeed);
    if (misdeed == Misdeed::kForgetsDone && i + 1 == board.count) break;
    if (misdeed == Misdeed::kLateBytes && s.bytes > 3) set_fault(report, kNotThere, i, 3);
    if (misdeed == Misdeed::kHoldsDone && board.lockstep != 0)
      set_fault(report, kDoneMissing, i, 0);
    report.done = ++report.done_calls;
  }
  report.returned = threads;
}

void exchange(const MessageParameters& p, Misdeed misdeed, bool packets) {
  auto& report = *reinterpret_cast<MessageReport*>(p.report);
  auto* slots = reinterpret_cast<purlin_packet*>(p.slots);
  for (uint64_t slot = 0; packets && slot < p.count; ++slot)
    slots[slot] = {message_payload(p.rounds, slot), message_tag(p.rounds)};
  if (packets && misdeed == Misdeed::kOverrunsSlots) slots[p.count].payload = 0;
  const bool tears = packets && misdeed == Misdeed::kTearsPackets;
  if (tears || (!packets && misdeed == Misdeed::kEarlySignal)) {
    report.wrong = 2;
    report.round = 7;
  }
  if (packets && misdeed == Misdeed::kLosesPacket) {
    report.timed_out = 1;
    report.round = 3;
    return;
  }
  *reinterpret_cast<uint64_t*>(p.taken) = p.rounds;
}

}  // namespace

void stand_in(Misdeed misdeed, const test::FakeLaunch& launch, void** parameters) {
  if (launch.kernel == "purlin_check_walk") {
    const auto& p = *static_cast<const WalkParameters*>(parameters[0]);
    for (uint32_t i = 0; i < p.board_count; ++i)
      walk(reinterpret_cast<WalkBoard*>(p.boards)[i], misdeed, launch.threads / p.groups);
  } else {
    exchange(*static_cast<const MessageParameters*>(parameters[0]), misdeed,
             launch.kernel == "purlin_check_packets");
  }
}

}  // namespace purlin::tools::check
