#include "tools/check/gpu/walks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace purlin::tools::check {
namespace {

constexpr uint64_t kGuardBytes = 64;      // at least, on either side of each stretch
constexpr uint64_t kBaseAlignment = 256;  // of an image
constexpr uint64_t kLimitNs = 5'000'000'000;
constexpr uint32_t kMostGroups = 32;  // of one launch

unsigned char guard(uint64_t at) { return static_cast<unsigned char>(0xC6u ^ (at & 0x3Fu)); }

uint64_t aligned(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

// The device memory of some walks, given back at the end.
class Held {
 public:
  explicit Held(Launcher& gpu) : gpu_(gpu) {}
  ~Held() {
    if (address != 0) gpu_.release(address);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  CudaAddress address = 0;

 private:
  Launcher& gpu_;
};

// Of one launch.
std::string run_at_once(Launcher& gpu, const Program& program, const GpuWalk* walks, size_t count,
                        uint32_t groups) {
  std::vector<uint64_t> at;
  uint64_t bytes = aligned(count * sizeof(WalkBoard), kBaseAlignment);
  for (size_t i = 0; i < count; ++i) {
    at.push_back(bytes);
    bytes = aligned(bytes + walks[i].bytes(), kBaseAlignment);
  }
  Held held(gpu);
  const auto memory = gpu.allocate(bytes, false);
  if (!memory) return memory.error();
  held.address = *memory;
  Bytes all(bytes);
  std::vector<WalkBoard> boards;
  for (size_t i = 0; i < count; ++i) {
    const Bytes contents = walks[i].contents(*memory + at[i]);
    std::copy(contents.begin(), contents.end(), all.begin() + static_cast<int64_t>(at[i]));
    boards.push_back(walks[i].board(*memory + at[i]));
  }
  std::memcpy(all.data(), boards.data(), count * sizeof(WalkBoard));
  WalkParameters parameters;
  parameters.boards = *memory;
  parameters.board_count = static_cast<uint32_t>(count);
  parameters.groups = groups;
  parameters.shared_span = program.kernel->shared_bytes;
  parameters.limit_ns = kLimitNs;
  const auto ctas = static_cast<unsigned>(count / groups + count);
  Done step = gpu.copy_in(*memory, all.data(), bytes);
  if (step)
    step = gpu.launch(program.loaded,
                      {"purlin_check_walk", ctas, groups * program.kernel->threads,
                       groups * program.kernel->shared_bytes},
                      &parameters);
  if (step) step = gpu.finish();
  if (step) step = gpu.copy_out(all.data(), *memory, bytes);
  if (!step) return step.error();
  std::memcpy(boards.data(), all.data(), count * sizeof(WalkBoard));
  for (size_t i = 0; i < count; ++i) {
    const auto begin = all.begin() + static_cast<int64_t>(at[i]);
    const Bytes after(begin, begin + static_cast<int64_t>(walks[i].bytes()));
    if (std::string fault = walks[i].judge(boards[i], after); !fault.empty()) return fault;
  }
  return "";
}

}  // namespace

uint64_t GpuWalk::place(const Region& region, unsigned shift) {
  const uint64_t at = aligned(image_.size() + kGuardBytes, kGuardBytes) + shift;
  for (uint64_t i = image_.size(); i < at + region.bytes + kGuardBytes; ++i)
    image_.push_back(i >= at && i < at + region.bytes ? kUnwritten : guard(i));
  regions_.push_back(region);
  regions_.back().at = at;
  return at;
}

uint64_t GpuWalk::append(const Bytes& bytes) {
  const uint64_t at = aligned(image_.size(), 16);
  while (image_.size() < at) image_.push_back(guard(image_.size()));
  image_.insert(image_.end(), bytes.begin(), bytes.end());
  return at;
}

void GpuWalk::add(const Piece& piece, std::mt19937_64& random) {
  const PieceData data = make_data(piece, program_.dtype, program_.op, scalar, random);
  const size_t index = segments_.size();
  WalkSegment segment;
  segment.bytes = data.bytes;
  segment.nsrc = static_cast<uint32_t>(piece.sources.size());
  segment.ndst = static_cast<uint32_t>(piece.targets.size());
  segment.consume = piece.consume;
  if (most_delay_ns != 0) segment.delay_ns = static_cast<uint32_t>(random() % most_delay_ns);
  for (size_t r = 0; r < piece.sources.size(); ++r) {
    segment.src[r] = place({0, data.bytes, index, false, r}, piece.sources[r]);
    segment.original[r] = append(data.originals[r]);
  }
  for (size_t k = 0; k < piece.targets.size(); ++k) {
    const int same = k < piece.same.size() ? piece.same[k] : -1;
    segment.dst[k] =
        same >= 0 ? segment.src[same] : place({0, data.bytes, index, true, k}, piece.targets[k]);
  }
  segment.expected = append(data.expected);
  segments_.push_back(segment);
  pieces_.push_back(piece);
}

Bytes GpuWalk::contents(uint64_t base) const {
  Bytes all = image_;
  all.resize(bytes());
  std::vector<WalkSegment> segments = segments_;
  for (WalkSegment& segment : segments) {
    for (uint32_t r = 0; r < segment.nsrc; ++r) segment.src[r] += base, segment.original[r] += base;
    for (uint32_t k = 0; k < segment.ndst; ++k) segment.dst[k] += base;
    segment.expected += base;
  }
  if (!segments.empty())
    std::memcpy(all.data() + table_at(), segments.data(), segments.size() * sizeof(WalkSegment));
  return all;
}

WalkBoard GpuWalk::board(uint64_t base) const {
  WalkBoard board;
  board.segments = base + table_at();
  board.count = segments_.size();
  board.stop_at = stop_at;
  board.lockstep = lockstep ? 1 : 0;
  board.scalar = scalar;
  return board;
}

std::string GpuWalk::title(uint64_t index) const {
  if (index >= pieces_.size()) return fmt::format("segment {} of {}", index, pieces_.size());
  return fmt::format("segment {} of {} ({})", index, pieces_.size(),
                     piece_title(pieces_[index], program_.dtype, program_.op));
}

std::string GpuWalk::judge_calls(const WalkReport& report) const {
  const uint64_t i = report.index, found = report.found;
  switch (report.fault) {
    case kReadyOrder:
      return fmt::format("ready({}) was called where ready({}) was due", i, found);
    case kReadyAfterStop:
      return fmt::format("ready({}) was called after ready({}) had said stop", i, found);
    case kDoneOrder:
      return fmt::format("done({}) was called where done({}) was due", i, found);
    case kDoneBeforeReady:
      return fmt::format("done({0}) was called before ready({0})", i);
    case kDoneBeyondStop:
      return fmt::format("done({}) was called, and ready({}) had said stop", i, found);
    case kWrittenEarly:
      return fmt::format("{}: byte {} was written before ready allowed it", title(i), found);
    case kNotThere:
      return fmt::format("{}: byte {} was not there for another CTA that had acquired its done",
                         title(i), found);
    case kReadyLanes:
    case kDoneLanes:
      return fmt::format(
          "{}({}) was called by lanes {:#x} of a warp; all 32 lanes call it together",
          report.fault == kReadyLanes ? "ready" : "done", i, found);
    case kDoneMissing:
      return fmt::format("{}: its done did not come while ready({}) waited", title(i), i + 1);
    case kTimeOut:
      return fmt::format("{}: the tool's own companion did not fill its sources in time", title(i));
    case kNoFault:
      break;
    default:
      return fmt::format("the report was overwritten: fault {}", report.fault);
  }
  const uint64_t count = segments_.size();
  if (stop_at >= count && report.done_calls != count)
    return fmt::format("run returned after done was called for {} of {} segments",
                       report.done_calls, count);
  if (stop_at < count && report.stopped == 0)
    return fmt::format("run returned before it had asked for segment {}, where ready says stop",
                       stop_at);
  return "";
}

std::string GpuWalk::name_place(uint64_t at) const {
  const auto what = [&](const Region& region) {
    return fmt::format("{} {} of {}", region.target ? "destination" : "source", region.index,
                       title(region.segment));
  };
  const auto next = std::find_if(regions_.begin(), regions_.end(),
                                 [&](const Region& region) { return region.at > at; });
  if (next != regions_.begin()) {
    const Region& before = *(next - 1);
    if (at < before.at + before.bytes)
      return fmt::format("byte {} of {}", at - before.at, what(before));
    if (next == regions_.end() || at - before.at - before.bytes < kGuardBytes)
      return fmt::format("byte {} beyond the end of {}", at - before.at - before.bytes,
                         what(before));
  }
  return fmt::format("byte {} before {}", next->at - at, what(*next));
}

std::string GpuWalk::judge_memory(const WalkReport& report, const Bytes& memory) const {
  Bytes expected = image_;
  const auto lay = [&](uint64_t to, const unsigned char* from, uint64_t bytes) {
    std::copy_n(from, bytes, expected.begin() + static_cast<int64_t>(to));
  };
  const uint64_t due = std::min<uint64_t>(stop_at, segments_.size());
  for (uint64_t i = 0; i < segments_.size() && i <= stop_at; ++i) {
    const WalkSegment& s = segments_[i];
    for (uint32_t r = 0; r < s.nsrc; ++r) lay(s.src[r], image_.data() + s.original[r], s.bytes);
    // Before a stop, what was begun need not be finished.
    const unsigned char* result = i < report.done_calls ? image_.data() + s.expected : nullptr;
    for (uint32_t k = 0; k < s.ndst && i < due; ++k)
      lay(s.dst[k], result != nullptr ? result : memory.data() + s.dst[k], s.bytes);
  }
  const auto [wanted, found] = std::mismatch(expected.begin(), expected.end(), memory.begin());
  if (wanted == expected.end()) return "";
  return fmt::format("{} is {:02x}, should be {:02x}",
                     name_place(static_cast<uint64_t>(wanted - expected.begin())), *found, *wanted);
}

std::string GpuWalk::judge(const WalkBoard& after, const Bytes& memory) const {
  std::string fault = judge_calls(after.report);
  if (fault.empty()) fault = judge_memory(after.report, memory);
  return fault;
}

std::string run_walks(AtomOnGpu& atom, const Program& program, const std::vector<GpuWalk>& walks,
                      uint32_t groups) {
  // Each CTA waits for others, so all must find room at once.
  const uint32_t room = atom.gpu().multiprocessors() * groups / (groups + 1);
  const uint32_t at_once = std::max(std::min(room, kMostGroups) / groups * groups, groups);
  for (size_t first = 0; first < walks.size(); first += at_once) {
    const size_t count = std::min<size_t>(at_once, walks.size() - first);
    const uint32_t shared = count % groups == 0 ? groups : 1;
    const std::string fault = run_at_once(atom.gpu(), program, walks.data() + first, count, shared);
    if (!fault.empty()) return fault;
  }
  return "";
}

}  // namespace purlin::tools::check
