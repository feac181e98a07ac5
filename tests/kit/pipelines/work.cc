#include "kit/pipelines/work.h"

#include <cstring>
#include <random>

#include "kit/dispatch.h"
#include "kit/pipelines/cta.h"
#include "purlin/device_abi.cuh"

namespace purlin {

Constants constants;

namespace {

constexpr size_t kMargin = 64;
constexpr unsigned char kUntouched = 0xA5;

unsigned char* place(std::vector<unsigned char>& buffer, uint32_t shift) {
  const auto at = reinterpret_cast<uintptr_t>(buffer.data());
  return reinterpret_cast<unsigned char*>((at + kMargin + 63) / 64 * 64 + shift);
}
const unsigned char* place(const std::vector<unsigned char>& buffer, uint32_t shift) {
  return place(const_cast<std::vector<unsigned char>&>(buffer), shift);
}
std::vector<unsigned char> buffer_for(uint64_t bytes) {
  return std::vector<unsigned char>(bytes + 3 * kMargin + 128, kUntouched);
}

template <class Words>
Words reduce(const Words* sources, uint32_t n) {
  Words out{};
  kit_test::for_each_dtype([&]<purlin_dtype D>() {
    if (D != constants.dtype) return;
    Words in[PURLIN_DEVICE_MAX_RANKS]{};
    for (uint32_t r = 0; r < n; ++r) in[r] = sources[r];
    out = kit::reduce_words<D>(static_cast<purlin_op>(constants.op), in, n, constants.nranks);
  });
  return out;
}
template <class Words>
Words scale(const Words& words) {
  Words out{};
  kit_test::for_each_dtype([&]<purlin_dtype D>() {
    if (D != constants.dtype) return;
    typename kit::Dtype<D>::Accumulator scalar;
    std::memcpy(&scalar, &constants.scalar, sizeof(scalar));
    out = kit::scale_words<D>(words, scalar);
  });
  return out;
}

}  // namespace

unsigned char* Piece::source(uint32_t r) {
  return in_place && r == 0 ? destination(0) : place(sources[r], source_shift[r]);
}
unsigned char* Piece::destination(uint32_t d) {
  return place(destinations[d], destination_shift[d]);
}

void Piece::expose() {
  for (uint32_t r = 0; r < sources.size(); ++r) std::memcpy(source(r), contents[r].data(), bytes);
}
void Piece::spoil() {
  for (uint32_t r = in_place ? 1 : 0; r < sources.size(); ++r) std::memset(source(r), 0x5A, bytes);
}

std::string Piece::judge() const {
  std::vector<unsigned char> expected(bytes + 16);
  for (uint64_t at = 0; at < bytes; at += 16) {
    kit::Words16 in[PURLIN_DEVICE_MAX_RANKS]{};
    for (size_t r = 0; r < contents.size(); ++r) std::memcpy(&in[r], contents[r].data() + at, 16);
    const kit::Words16 out = consume == PURLIN_CONSUME_REDUCE
                                 ? reduce(in, static_cast<uint32_t>(contents.size()))
                             : consume == PURLIN_CONSUME_SCALE ? scale(in[0])
                                                               : in[0];
    std::memcpy(expected.data() + at, &out, 16);
  }
  for (size_t d = 0; d < destinations.size(); ++d) {
    const auto& buffer = destinations[d];
    const unsigned char* begin = place(buffer, destination_shift[d]);
    for (const unsigned char& byte : buffer) {
      const auto at = &byte - begin;
      const bool inside = at >= 0 && static_cast<uint64_t>(at) < bytes;
      const unsigned char wanted = inside ? expected[static_cast<size_t>(at)] : kUntouched;
      if (byte != wanted) {
        return "destination " + std::to_string(d) + " byte " + std::to_string(at) + " of " +
               std::to_string(bytes) + " is " + std::to_string(byte) + ", not " +
               std::to_string(wanted);
      }
    }
  }
  return "";
}

bool Watcher::segment(uint64_t index, purlin_segment* out) {
  if (index >= pieces.size()) return false;
  Piece& piece = pieces[index];
  out->bytes = piece.bytes;
  out->nsrc = static_cast<uint32_t>(piece.sources.size());
  out->ndst = static_cast<uint32_t>(piece.destinations.size());
  out->consume = piece.consume;
  out->kind = PURLIN_SEGMENT_UNICAST;
  for (uint32_t r = 0; r < out->nsrc; ++r) out->src[r] = piece.source(r);
  for (uint32_t d = 0; d < out->ndst; ++d) out->dst[d] = piece.destination(d);
  return true;
}

bool Watcher::ready(uint64_t index) {
  if (index != readied) failure = "ready is not called in order";
  for (uint64_t k = most_delay == 0 ? 0 : emulator::random_number() % most_delay; k > 0; --k)
    emulator::pause();
  while (depends != 0 && index >= depends && finished <= index - depends) emulator::pause();
  if (index == stop_at) {
    stopped = true;
    return false;
  }
  pieces[index].expose();
  ++readied;
  return true;
}

void Watcher::done(uint64_t index) {
  if (index != finished) failure = "done is not called in order";
  if (index >= readied) failure = "done comes before ready";
  const std::string wrong = pieces[index].judge();
  if (!wrong.empty() && failure.empty())
    failure = "at done of segment " + std::to_string(index) + ": " + wrong;
  pieces[index].spoil();
  ++finished;
}

std::vector<Piece> random_pieces(uint64_t seed, uint32_t count, uint64_t most_bytes) {
  std::mt19937_64 random(seed);
  const uint32_t element = kit::element_bytes(constants.dtype);
  const bool aligned = random() % 3 == 0;  // a whole run without any shift
  std::vector<Piece> pieces(count);
  for (Piece& piece : pieces) {
    const uint64_t kind = random() % 4;
    if (kind < 2 && constants.sources != 0)
      piece.consume = PURLIN_CONSUME_REDUCE;
    else if (kind == 2 && constants.op == PURLIN_PREMUL_SUM)
      piece.consume = PURLIN_CONSUME_SCALE;
    const uint32_t unit = piece.consume == PURLIN_CONSUME_COPY ? 1 : element;
    const uint64_t sizes[] = {0, random() % 40, random() % 600, random() % most_bytes,
                              random() % (most_bytes / 16) * 16};
    piece.bytes = sizes[random() % 5] / unit * unit;
    const uint32_t sources = piece.consume == PURLIN_CONSUME_REDUCE ? constants.sources : 1;
    const uint32_t destinations = static_cast<uint32_t>(1 + random() % 3 % constants.nranks);
    const bool same = random() % 2 == 0;
    // Half an element's alignment happens to 8-byte types.
    const uint32_t step = unit == 8 && random() % 4 == 0 ? 4 : unit;
    const uint32_t common = aligned ? 0 : static_cast<uint32_t>(random() % 16) / step * step;
    auto shift = [&] {
      return aligned || same ? common : static_cast<uint32_t>(random() % 16) / step * step;
    };
    for (uint32_t r = 0; r < sources; ++r) {
      piece.sources.push_back(buffer_for(piece.bytes));
      piece.source_shift.push_back(shift());
      std::vector<unsigned char> content(piece.bytes + 16);
      for (auto& byte : content) byte = static_cast<unsigned char>(random() % 60);
      piece.contents.push_back(std::move(content));
    }
    for (uint32_t d = 0; d < destinations; ++d) {
      piece.destinations.push_back(buffer_for(piece.bytes));
      piece.destination_shift.push_back(shift());
    }
    piece.in_place = random() % 8 == 0;
  }
  return pieces;
}

}  // namespace purlin

// What the linker would join.
using purlin::constants;
using purlin::Watcher;

extern "C" {
unsigned long long purlin_constant_nranks_d2() { return constants.nranks; }
unsigned long long purlin_constant_dtype_d2() { return constants.dtype; }
unsigned long long purlin_constant_op_d2() { return constants.op; }
unsigned long long purlin_constant_stages_d2() { return constants.stages; }
unsigned long long purlin_constant_stage_bytes_d2() { return constants.stage_bytes; }
unsigned long long purlin_constant_threads_d2() { return constants.threads; }
unsigned purlin_snac_sources_d2(void*) { return constants.sources; }
unsigned long long purlin_snac_scalar_d2(void*) { return constants.scalar; }
bool purlin_snac_segment_d2(void* snac, unsigned long long index, purlin_segment* out) {
  return static_cast<Watcher*>(snac)->segment(index, out);
}
bool purlin_snac_ready_d2(void* snac, unsigned long long index) {
  bool goes = true;
  if (purlin::emulator::this_thread() % 32 == 0) goes = static_cast<Watcher*>(snac)->ready(index);
  return purlin::emulator::warp_vote(goes, true, "ready");
}
void purlin_snac_done_d2(void* snac, unsigned long long index) {
  static_cast<void>(purlin::emulator::warp_vote(true, true, "done"));
  if (purlin::emulator::this_thread() % 32 == 0) static_cast<Watcher*>(snac)->done(index);
}
void purlin_reduce16_d2(const purlin::kit::Words16* sources, unsigned n,
                        purlin::kit::Words16* out) {
  *out = purlin::reduce(sources, n);
}
void purlin_scale16_d2(unsigned long long, purlin::kit::Words16* words) {
  *words = purlin::scale(*words);
}
}
