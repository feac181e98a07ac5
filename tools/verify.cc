#include "tools/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "purlin/purlin.h"
#include "tools/names.h"
#include "tools/reference.h"

namespace purlin::tools {
namespace {

constexpr unsigned char kPoison = 0xA5;
constexpr uint64_t kBlock = 4096;  // elements compared at a time
constexpr size_t kMostNotes = 3;

std::string hex(const unsigned char* element, uint64_t bytes) {
  std::string text = "0x";
  for (uint64_t i = bytes; i-- > 0;) text += fmt::format("{:02X}", element[i]);
  return text;
}

std::string meaning(const Piece& piece, uint64_t at) {
  const uint64_t index = piece.index + (at - piece.offset);
  switch (piece.content) {
    case Content::kPoison:
      return "an element that the call must not write";
    case Content::kInput:
      return fmt::format("element {} of rank {}'s input", index, piece.rank);
    default:
      return fmt::format("the reduction of element {} over all ranks", index);
  }
}

const char* arena_name(const RankShape& shape, size_t arena) {
  return shape.arenas.size() == 1 ? "in-place" : arena == 0 ? "send" : "recv";
}

// True when the ranks of a process share one expected result.
bool shared_result(const Case& test) {
  return test.collective == PURLIN_ALL_REDUCE || test.collective == PURLIN_REDUCE;
}

void share_expected(const Case& test, const InputSource& source, RankLink& link) {
  const uint64_t bytes = dtype_bytes(test.dtype);
  link.local_barrier();
  if (link.local_index() == 0) link.local_scratch().resize(test.count * bytes);
  link.local_barrier();
  const uint64_t parts = static_cast<uint64_t>(link.local_size());
  const uint64_t step = (test.count + parts - 1) / parts;
  const uint64_t first = std::min(test.count, step * static_cast<uint64_t>(link.local_index()));
  const uint64_t last = std::min(test.count, first + step);
  expected_reduction(test, source, first, last - first,
                     link.local_scratch().data() + first * bytes);
  link.local_barrier();
}

class Judge {
 public:
  Judge(const Case& test, const RankShape& shape, const InputSource& source, RankLink& link)
      : test_(test),
        shape_(shape),
        source_(source),
        link_(link),
        bytes_(dtype_bytes(test.dtype)),
        expected_(kBlock * bytes_) {}

  void arena(size_t index, const GuardedBuffer& buffer) {
    for (const Piece& piece : shape_.arenas[index].after)
      for (uint64_t at = piece.offset, end = at + piece.count; at < end; at += kBlock)
        block(index, piece, at, std::min(kBlock, end - at), buffer.data() + at * bytes_);
    const GuardedBuffer::Damage damage = buffer.damage();
    if (damage.bytes == 0) return;
    ++verdict.wrong;
    note(fmt::format("{} buffer: {} guard bytes changed, the first at byte {} of a buffer of {}",
                     arena_name(shape_, index), damage.bytes, damage.first, buffer.bytes()));
  }

  Verdict verdict;

 private:
  const unsigned char* expect(const Piece& piece, uint64_t at, uint64_t count) {
    const uint64_t index = piece.index + (at - piece.offset);
    if (piece.content == Content::kReduced && shared_result(test_))
      return link_.local_scratch().data() + index * bytes_;
    if (piece.content == Content::kReduced)
      expected_reduction(test_, source_, index, count, expected_.data());
    else if (piece.content == Content::kInput)
      source_.block(piece.rank, index, count, expected_.data());
    else
      std::memset(expected_.data(), kPoison, count * bytes_);
    return expected_.data();
  }

  void block(size_t arena, const Piece& piece, uint64_t at, uint64_t count,
             const unsigned char* found) {
    const unsigned char* expected = expect(piece, at, count);
    if (std::memcmp(found, expected, count * bytes_) == 0) return;
    for (uint64_t i = 0; i < count; ++i) {
      const unsigned char* is = found + i * bytes_;
      const unsigned char* should = expected + i * bytes_;
      if (std::memcmp(is, should, bytes_) == 0) continue;
      ++verdict.wrong;
      note(fmt::format("{} buffer, element {}: {} where {} was expected, {}",
                       arena_name(shape_, arena), at + i, hex(is, bytes_), hex(should, bytes_),
                       meaning(piece, at + i)));
    }
  }

  void note(std::string text) {
    if (verdict.notes.size() < kMostNotes) verdict.notes.push_back(std::move(text));
  }

  const Case& test_;
  const RankShape& shape_;
  const InputSource& source_;
  RankLink& link_;
  uint64_t bytes_;
  std::vector<unsigned char> expected_;
};

}  // namespace

void prepare(const RankShape& shape, const InputSource& source,
             std::vector<GuardedBuffer>& buffers) {
  const uint64_t bytes = dtype_bytes(source.dtype);
  for (size_t a = 0; a < shape.arenas.size(); ++a) {
    for (const Piece& piece : shape.arenas[a].before) {
      unsigned char* place = buffers[a].data() + piece.offset * bytes;
      if (piece.content == Content::kInput)
        source.block(piece.rank, piece.index, piece.count, place);
      else
        std::memset(place, kPoison, piece.count * bytes);
    }
  }
}

Verdict verify(const Case& test, const RankShape& shape, const InputSource& source,
               const std::vector<GuardedBuffer>& buffers, RankLink& link) {
  if (shared_result(test) && (link.local_size() > 1 || shape.reduced_count > 0))
    share_expected(test, source, link);
  Judge judge(test, shape, source, link);
  for (size_t a = 0; a < shape.arenas.size(); ++a) judge.arena(a, buffers[a]);
  return std::move(judge.verdict);
}

void expected_reduction(const Case& test, const InputSource& source, uint64_t first, uint64_t count,
                        unsigned char* out) {
  const uint64_t bytes = dtype_bytes(test.dtype);
  const size_t n = static_cast<size_t>(test.nranks);
  const std::vector<Scalar> scalars = premul_scalars(test.dtype, test.nranks);
  std::vector<unsigned char> inputs(n * kBlock * bytes);
  std::vector<const void*> sources(n), scalar_pointers(n);
  for (size_t r = 0; r < n; ++r) {
    sources[r] = inputs.data() + r * kBlock * bytes;
    scalar_pointers[r] = scalars[r].bytes;
  }
  for (uint64_t at = 0; at < count; at += kBlock) {
    const uint64_t length = std::min(kBlock, count - at);
    for (size_t r = 0; r < n; ++r)
      source.block(static_cast<int>(r), first + at, length, inputs.data() + r * kBlock * bytes);
    reference_reduce(test.dtype, test.op, sources.data(), test.nranks, scalar_pointers.data(),
                     length, out + at * bytes);
  }
}

}  // namespace purlin::tools
