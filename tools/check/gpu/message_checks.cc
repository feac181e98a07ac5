// Packets and flags: between two CTAs, and in calls of ranks that start at different times.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "tools/check/elements.h"
#include "tools/check/gpu/format.h"
#include "tools/check/gpu/gpu_checks.h"
#include "tools/check/gpu/rank_threads.h"
#include "tools/json_text.h"

namespace purlin::tools::check {
namespace {

constexpr uint64_t kLimitNs = 5'000'000'000;
constexpr uint64_t kFlagAt = 0, kTakenAt = 128, kReportAt = 256, kSlotsAt = 512;
constexpr int kRanks = 3;
constexpr uint64_t kRoom = 4096;  // of a rank's part
constexpr int kCallsInARow = 4;

struct Messages {
  const char* kernel;
  uint32_t count, rounds, delay_ns, seed;
};

purlin_packet stale(uint64_t slot) { return {message_payload(0, slot), message_tag(0)}; }

// One launch; a broken rule in words. Slots have one more on either side that nobody may touch.
std::string exchange(AtomOnGpu& atom, const Program& program, const Messages& asked) {
  Launcher& gpu = atom.gpu();
  Bytes memory(kSlotsAt + (asked.count + 2) * sizeof(purlin_packet));
  for (uint64_t i = 0; i < asked.count + 2; ++i) {
    const purlin_packet packet = stale(i - 1);
    std::memcpy(memory.data() + kSlotsAt + i * sizeof packet, &packet, sizeof packet);
  }
  const auto held = gpu.allocate(memory.size(), false);
  if (!held) return held.error();
  MessageParameters parameters;
  parameters.slots = *held + kSlotsAt + sizeof(purlin_packet);
  parameters.flag = *held + kFlagAt;
  parameters.taken = *held + kTakenAt;
  parameters.report = *held + kReportAt;
  parameters.count = asked.count;
  parameters.rounds = asked.rounds;
  parameters.delay_ns = asked.delay_ns;
  parameters.seed = asked.seed;
  parameters.limit_ns = kLimitNs;
  Done step = gpu.copy_in(*held, memory.data(), memory.size());
  if (step)
    step = gpu.launch(program.loaded,
                      {asked.kernel, 2, program.kernel->threads, program.kernel->shared_bytes},
                      &parameters);
  if (step) step = gpu.finish();
  if (step) step = gpu.copy_out(memory.data(), *held, memory.size());
  gpu.release(*held);
  if (!step) return step.error();
  MessageReport report;
  uint64_t taken = 0;
  std::memcpy(&report, memory.data() + kReportAt, sizeof report);
  std::memcpy(&taken, memory.data() + kTakenAt, sizeof taken);
  const bool packets = std::strcmp(asked.kernel, "purlin_check_packets") == 0;
  if (report.timed_out != 0)
    return packets ? fmt::format("packet {} of round {} never arrived", report.slot, report.round)
                   : fmt::format("the signal of round {} was never observed", report.round);
  if (report.wrong != 0)
    return packets ? fmt::format(
                         "{} packets were read with another's payload, the first in slot {} of "
                         "round {}: tag {:x}, payload {:x}",
                         report.wrong, report.slot, report.round, report.tag, report.payload)
                   : fmt::format(
                         "{} words were not there when the signal that announces them was, the "
                         "first is {} of round {}",
                         report.wrong, report.slot, report.round);
  if (taken != asked.rounds) return fmt::format("{} of {} rounds were taken", taken, asked.rounds);
  for (const uint64_t i : {uint64_t{0}, uint64_t{asked.count} + 1}) {
    const purlin_packet packet = stale(i - 1);
    if (std::memcmp(memory.data() + kSlotsAt + i * sizeof packet, &packet, sizeof packet) != 0)
      return fmt::format("the packet {} the {} slots was written", i == 0 ? "before" : "behind",
                         asked.count);
  }
  return "";
}

unsigned char content(uint64_t seed, int rank, uint64_t call, uint64_t at) {
  return static_cast<unsigned char>(
      message_payload(seed + call, at * kRanks + static_cast<uint64_t>(rank)) >> 32);
}

// Gathers `bytes` bytes of each rank, several calls in a row, each rank beginning each when it
// likes.
class LateGathers {
 public:
  LateGathers(GpuRank& rank, uint64_t seed) : rank_(rank), seed_(seed) {}

  std::string prepare() {
    const auto memory = rank_.device.allocate(kCallsInARow * kRoom * (kRanks + 1));
    if (!memory) return memory.error();
    memory_ = *memory;
    return "";
  }
  ~LateGathers() {
    if (memory_ != nullptr) rank_.device.release(memory_);
  }
  LateGathers(const LateGathers&) = delete;
  LateGathers& operator=(const LateGathers&) = delete;

  std::string run(uint64_t bytes, uint64_t shift, std::mt19937_64& random) {
    const std::string fault = call(bytes, shift, random);
    rank_.meet();
    return fault.empty() ? fault
                         : fmt::format("all_gather of {} bytes, {} past an aligned address: {}",
                                       bytes, shift, fault);
  }

 private:
  unsigned char* send(int call) const { return memory_ + static_cast<uint64_t>(call) * kRoom; }
  unsigned char* receive(int call) const {
    return memory_ + kCallsInARow * kRoom + static_cast<uint64_t>(call) * kRoom * kRanks;
  }

  std::string call(uint64_t bytes, uint64_t shift, std::mt19937_64& random) {
    const int self = rank_.link.rank();
    for (int c = 0; c < kCallsInARow; ++c) {
      Bytes mine(bytes);
      for (uint64_t at = 0; at < bytes; ++at)
        mine[at] = content(seed_, self, static_cast<uint64_t>(c), at);
      const Bytes blank(kRanks * kRoom, kUnwritten);
      Done step = rank_.device.copy_in(send(c) + shift, mine.data(), bytes);
      if (step) step = rank_.device.copy_in(receive(c), blank.data(), blank.size());
      if (!step) return step.error();
    }
    rank_.meet();
    purlin_call call{};
    call.struct_size = sizeof call;
    call.collective = PURLIN_ALL_GATHER;
    call.dtype = PURLIN_U8;
    call.count = bytes;
    call.path = PURLIN_PATH_LATENCY;
    for (int c = 0; c < kCallsInARow; ++c) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 400));  // the delay
      call.send = send(c) + shift;
      call.recv = receive(c) + shift;
      if (purlin_run(&call, rank_.comm, rank_.device.stream()) != PURLIN_OK)
        return purlin_last_error();
    }
    if (Done finished = rank_.device.finish(rank_.comm); !finished) return finished.error();
    for (int c = 0; c < kCallsInARow; ++c)
      if (std::string fault = compare(c, bytes, shift); !fault.empty()) return fault;
    return "";
  }

  std::string compare(int c, uint64_t bytes, uint64_t shift) {
    Bytes found(kRanks * kRoom), wanted(kRanks * kRoom, kUnwritten);
    if (Done copied = rank_.device.copy_out(found.data(), receive(c), found.size()); !copied)
      return copied.error();
    for (int r = 0; r < kRanks; ++r)
      for (uint64_t at = 0; at < bytes; ++at)
        wanted[shift + static_cast<uint64_t>(r) * bytes + at] =
            content(seed_, r, static_cast<uint64_t>(c), at);
    const auto [want, got] = std::mismatch(wanted.begin(), wanted.end(), found.begin());
    if (want == wanted.end()) return "";
    return fmt::format("call {}: byte {} of the result is {:02x}, should be {:02x}", c,
                       want - wanted.begin() - static_cast<int64_t>(shift), *got, *want);
  }

  GpuRank& rank_;
  const uint64_t seed_;
  unsigned char* memory_ = nullptr;
};

std::string gather_late(const AtomOnGpu& atom, uint64_t rounds) {
  return run_ranks(atom, kRanks, 20'000, [&](GpuRank& rank) -> std::string {
    const Subject& subject = atom.subject();
    LateGathers gathers(rank, subject.seed);
    std::string fault = gathers.prepare();
    if (!rank.link.agree(fault.empty() ? done() : Done(Error{fault}))) return fault;
    auto sizes = subject.random(kPackets);
    std::mt19937_64 delays(subject.seed + static_cast<uint64_t>(rank.link.rank()));
    for (uint64_t i = 0; i < rounds && fault.empty(); ++i) {
      const uint64_t bytes = 1 + sizes() % (i % 4 == 0 ? 3000 : 70), shift = sizes() % 17;
      fault = gathers.run(bytes, shift, delays);
      if (Done all = rank.link.agree(fault.empty() ? done() : Done(Error{fault})); !all)
        return all.error();
    }
    return fault;
  });
}

}  // namespace

Finding check_packets_on_gpu(const Subject& subject) {
  return on_gpu(subject, [&](AtomOnGpu& atom) {
    const auto program = atom.link({});
    if (!program) return fault_on_gpu(atom, program.error(), 0);
    auto random = subject.random(kPackets);
    uint64_t cases = 0;
    for (const uint32_t count : {1u, 5u, 64u, 1000u}) {
      for (const uint32_t delay : {0u, 3000u}) {
        ++cases;
        const Messages asked{"purlin_check_packets", count,
                             static_cast<uint32_t>(subject.times(50, 2000)), delay,
                             static_cast<uint32_t>(random())};
        if (std::string fault = exchange(atom, *program, asked); !fault.empty())
          return failed(std::move(fault), cases);
      }
    }
    // Alone, a communicator cannot be made of an Atom for the switch.
    if ((number_at(subject.atom, "capabilities") & PURLIN_CAP_REDUCE) == 0) return passed(cases);
    const uint64_t rounds = subject.times(40, 1000);
    return fault_on_gpu(atom, gather_late(atom, rounds), cases + rounds);
  });
}

Finding check_order_on_gpu(const Subject& subject) {
  return on_gpu(subject, [&](AtomOnGpu& atom) {
    const auto program = atom.link({});
    if (!program) return fault_on_gpu(atom, program.error(), 0);
    const auto rounds = static_cast<uint32_t>(subject.times(3000, 100'000));
    uint64_t cases = 0;
    for (const char* kernel : {"purlin_check_signals", "purlin_check_packets"}) {
      for (const uint32_t count : {24u, 1500u}) {
        cases += rounds;
        if (std::string fault = exchange(atom, *program, {kernel, count, rounds, 0, 1});
            !fault.empty())
          return failed(std::move(fault), cases);
      }
    }
    return passed(cases);
  });
}

}  // namespace purlin::tools::check
