#include "tools/check/board.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace purlin::tools::check {
namespace {

constexpr unsigned char kUnwritten = 0xCD;

GuardedBuffer guarded(uint64_t bytes, unsigned shift) {
  auto buffer = GuardedBuffer::make(bytes, shift);
  if (!buffer) throw std::bad_alloc();
  return std::move(*buffer);
}

std::string first_difference(const unsigned char* found, const Bytes& expected) {
  const auto [at, _] = std::mismatch(expected.begin(), expected.end(), found);
  const auto index = at - expected.begin();
  return fmt::format("byte {} is {:02x}, should be {:02x}", index, found[index], *at);
}

}  // namespace

Board::Board(const purlin_atom_descriptor& descriptor, int dtype, int op, uint32_t nranks)
    : atom_(*descriptor.host) {
  constants.struct_size = sizeof constants;
  constants.nranks = nranks;
  constants.dtype = static_cast<uint32_t>(dtype);
  constants.op = static_cast<uint32_t>(op);
  constants.stages = descriptor.limits->default_stages;
  constants.stage_bytes = descriptor.limits->default_stage_bytes;
  constants.threads = descriptor.limits->default_threads;
}

void Board::add(const Piece& piece, std::mt19937_64& random) {
  Segment segment;
  segment.piece = piece;
  segment.data = make_data(piece, static_cast<int>(constants.dtype), static_cast<int>(constants.op),
                           constants.scalar, random);
  for (size_t r = 0; r < piece.sources.size(); ++r) {
    const Bytes& original = segment.data.originals[r];
    segment.sources.push_back(guarded(segment.data.bytes, piece.sources[r]));
    std::copy(original.begin(), original.end(), segment.sources.back().data());
  }
  for (size_t k = 0; k < piece.targets.size(); ++k) {
    const int same = k < piece.same.size() ? piece.same[k] : -1;
    if (same >= 0) {
      segment.targets.push_back(segment.sources[static_cast<size_t>(same)].data());
      continue;
    }
    segment.apart.push_back(guarded(segment.data.bytes, piece.targets[k]));
    std::fill_n(segment.apart.back().data(), segment.data.bytes, kUnwritten);
    segment.targets.push_back(segment.apart.back().data());
  }
  segments_.push_back(std::move(segment));
}

std::string Board::title(uint64_t index) const {
  return fmt::format("segment {} of {} ({})", index, segments_.size(),
                     piece_title(segments_[index].piece, static_cast<int>(constants.dtype),
                                 static_cast<int>(constants.op)));
}

void Board::fault(std::string text) {
  if (fault_.empty()) fault_ = std::move(text);
}

bool Board::untouched(const Segment& segment) const {
  for (const GuardedBuffer& target : segment.apart)
    if (std::any_of(target.data(), target.data() + segment.data.bytes,
                    [](unsigned char byte) { return byte != kUnwritten; }))
      return false;
  for (size_t r = 0; r < segment.sources.size(); ++r)
    if (!std::equal(segment.data.originals[r].begin(), segment.data.originals[r].end(),
                    segment.sources[r].data()))
      return false;
  return true;
}

int Board::on_segment(void* board, uint64_t index, purlin_segment* out) {
  const Board& self = *static_cast<Board*>(board);
  if (index >= self.segments_.size()) return 0;
  const Segment& segment = self.segments_[index];
  std::memset(out, 0, sizeof *out);
  out->bytes = segment.data.bytes;
  out->nsrc = static_cast<uint32_t>(segment.sources.size());
  out->ndst = static_cast<uint32_t>(segment.targets.size());
  out->consume = segment.piece.consume;
  out->kind = PURLIN_SEGMENT_UNICAST;
  for (size_t r = 0; r < segment.sources.size(); ++r) out->src[r] = segment.sources[r].data();
  for (size_t k = 0; k < segment.targets.size(); ++k) out->dst[k] = segment.targets[k];
  return 1;
}

int Board::on_ready(void* board, uint64_t index) {
  Board& self = *static_cast<Board*>(board);
  if (self.stopped_) {
    self.fault(
        fmt::format("ready({}) was called after ready({}) had said stop", index, self.stop_at));
    return 1;
  }
  if (index != self.next_ready_ || index >= self.segments_.size()) {
    self.fault(
        fmt::format("ready({}) was called where ready({}) was due", index, self.next_ready_));
    return 1;
  }
  if (!self.untouched(self.segments_[index]))
    self.fault(self.title(index) + ": was written before ready allowed it");
  ++self.next_ready_;
  self.stopped_ = index == self.stop_at;
  return self.stopped_ ? 1 : 0;
}

void Board::on_done(void* board, uint64_t index) {
  Board& self = *static_cast<Board*>(board);
  if (self.stopped_)
    return self.fault(
        fmt::format("done({}) was called after ready({}) had said stop", index, self.stop_at));
  if (index != self.next_done_)
    return self.fault(
        fmt::format("done({}) was called where done({}) was due", index, self.next_done_));
  if (index >= self.next_ready_)
    return self.fault(fmt::format("done({0}) was called before ready({0})", index));
  ++self.next_done_;
  self.check_result(index);
}

void Board::check_result(uint64_t index) {
  const Segment& segment = segments_[index];
  for (size_t k = 0; k < segment.targets.size(); ++k)
    if (!std::equal(segment.data.expected.begin(), segment.data.expected.end(), segment.targets[k]))
      return fault(fmt::format("{}: at done, {} of destination {}", title(index),
                               first_difference(segment.targets[k], segment.data.expected), k));
  for (size_t r = 0; r < segment.sources.size(); ++r) {
    if (std::find(segment.targets.begin(), segment.targets.end(), segment.sources[r].data()) !=
        segment.targets.end())
      continue;
    if (!std::equal(segment.data.originals[r].begin(), segment.data.originals[r].end(),
                    segment.sources[r].data()))
      return fault(fmt::format("{}: source {} was written to", title(index), r));
  }
}

void Board::check_rest() {
  for (uint64_t i = 0; i < segments_.size(); ++i) {
    const Segment& segment = segments_[i];
    if (i >= std::min(stop_at, uint64_t{segments_.size()}) && !untouched(segment))
      fault(title(i) + ": was written after the stop");
    for (const auto* buffers : {&segment.sources, &segment.apart})
      for (const GuardedBuffer& buffer : *buffers)
        if (const auto damage = buffer.damage(); damage.bytes != 0)
          fault(fmt::format(
              "{}: {} bytes outside a buffer were written, the first at {} from its start",
              title(i), damage.bytes, damage.first));
  }
}

std::string Board::run() {
  const purlin_group group{sizeof(purlin_group), 0, constants.threads, 0, nullptr, 0};
  const purlin_snac_calls calls{sizeof(purlin_snac_calls), 0, on_segment, on_ready, on_done};
  const int returned = atom_.run(&constants, &group, &calls, this);
  const uint64_t due = std::min(stop_at, uint64_t{segments_.size()});
  if (next_done_ < due && !stopped_)
    fault(fmt::format("run returned after done was called for {} of {} segments", next_done_, due));
  const int wanted = stop_at < segments_.size() ? 1 : 0;
  if (returned != wanted)
    fault(fmt::format("run returned {}, should be {} {}", returned, wanted,
                      wanted == 1 ? "after a stop" : "at the end"));
  check_rest();
  return fault_;
}

}  // namespace purlin::tools::check
