#include "sweep_case.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "ranks.h"
#include "reference/element.h"
#include "reference/patterns.h"
#include "reference/reference.h"

namespace purlin::test {

const char* const kSmallStaging =
    "version: 1\nstaging: {latency_bytes: 64KiB, throughput_bytes: 64KiB}\ncrossover: 1KiB\n"
    "tuning: {default: {chunk: 1KiB}}\n";

namespace {

bool many_in(int c) {
  return c == PURLIN_REDUCE_SCATTER || c == PURLIN_ALL_TO_ALL || c == PURLIN_SCATTER;
}
bool many_out(int c) {
  return c == PURLIN_ALL_GATHER || c == PURLIN_ALL_TO_ALL || c == PURLIN_GATHER;
}
bool rooted(int c) { return c >= PURLIN_BROADCAST && c <= PURLIN_GATHER; }

Bytes combined(const Case& c, const std::vector<Bytes>& in, uint64_t begin, uint64_t count) {
  const uint64_t es = reference::element_bytes(static_cast<purlin_dtype>(c.dtype));
  std::vector<const void*> sources;
  for (const Bytes& bytes : in) sources.push_back(bytes.data() + begin * es);
  Bytes out(count * es);
  reference::reduce(static_cast<purlin_dtype>(c.dtype), static_cast<purlin_op>(c.op),
                    sources.data(), static_cast<uint32_t>(c.n), static_cast<uint32_t>(c.n), count,
                    out.data());
  return out;
}

Bytes expected(const Case& c, int rank, const std::vector<Bytes>& in) {
  const int root = c.root;
  const uint64_t region = c.count * reference::element_bytes(static_cast<purlin_dtype>(c.dtype));
  auto part = [&](int from, uint64_t index) {
    const auto* begin = in[static_cast<size_t>(from)].data() + index * region;
    return Bytes(begin, begin + region);
  };
  Bytes out;
  auto append = [&](const Bytes& bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); };
  const auto r = static_cast<uint64_t>(rank);
  switch (c.collective) {
    case PURLIN_ALL_REDUCE:
      return combined(c, in, 0, c.count);
    case PURLIN_REDUCE:
      return rank == root ? combined(c, in, 0, c.count) : out;
    case PURLIN_REDUCE_SCATTER:
      return combined(c, in, r * c.count, c.count);
    case PURLIN_BROADCAST:
      return part(root, 0);
    case PURLIN_SCATTER:
      return part(root, r);
    case PURLIN_GATHER:
      if (rank != root) return out;
      [[fallthrough]];
    case PURLIN_ALL_GATHER:
      for (int s = 0; s < c.n; ++s) append(part(s, 0));
      return out;
    default:
      for (int s = 0; s < c.n; ++s) append(part(s, r));
      return out;
  }
}

uint64_t in_bytes_of(const Case& c) {
  return c.count * reference::element_bytes(static_cast<purlin_dtype>(c.dtype)) *
         (many_in(c.collective) ? static_cast<uint64_t>(c.n) : 1);
}

}  // namespace

std::vector<Bytes> inputs_of(const Case& c) {
  const auto dtype = static_cast<purlin_dtype>(c.dtype);
  const uint64_t bytes = in_bytes_of(c);
  std::mt19937_64 random(c.seed);
  std::vector<Bytes> in;
  for (int r = 0; r < c.n; ++r) {
    const auto elements =
        reference::mixed_elements(dtype, bytes / reference::element_bytes(dtype), random());
    const auto* begin = reinterpret_cast<const unsigned char*>(elements.data());
    in.emplace_back(begin, begin + bytes);
  }
  return in;
}

std::string run_rank(const Case& c, int rank, const std::vector<Bytes>& in, purlin_comm_t comm) {
  return run_rank(c, rank, in, [&](const purlin_call& call, auto) -> std::string {
    return purlin_run(&call, comm, nullptr) == PURLIN_OK ? "" : purlin_last_error();
  });
}

std::string run_rank(const Case& c, int rank, const std::vector<Bytes>& in, const Carrier& carrier) {
  const uint64_t es = reference::element_bytes(static_cast<purlin_dtype>(c.dtype));
  const auto n = static_cast<uint64_t>(c.n);
  const uint64_t in_bytes = in_bytes_of(c);
  const uint64_t out_bytes = c.count * es * (many_out(c.collective) ? n : 1);
  const Bytes& mine = in[static_cast<size_t>(rank)];
  const uint64_t own = static_cast<uint64_t>(rank) * c.count * es;
  Guarded send(std::max(in_bytes, out_bytes), c.offset);
  Guarded recv(out_bytes, c.offset);
  unsigned char* in_at = send.data();
  unsigned char* out_at = recv.data();
  if (c.in_place && many_out(c.collective) && !many_in(c.collective)) {
    out_at = send.data();
    in_at = send.data() + (rooted(c.collective) && rank != c.root ? 0 : own);
  } else if (c.in_place) {
    out_at = send.data() + (many_in(c.collective) && !many_out(c.collective) ? own : 0);
  }
  std::memset(out_at, 0xee, out_bytes);
  std::memcpy(in_at, mine.data(), in_bytes);
  purlin_call call{};
  call.struct_size = sizeof call;
  call.collective = c.collective;
  call.dtype = c.dtype;
  call.op = c.op;
  call.root = c.root;
  call.send = in_at;
  call.recv = out_at;
  call.count = c.count;
  call.path = c.path;
  const std::span<unsigned char> memory[] = {send.storage(), recv.storage()};
  if (std::string wrong = carrier(call, memory); !wrong.empty()) return wrong;
  const Bytes want = expected(c, rank, in);
  if (std::memcmp(out_at, want.data(), want.size()) != 0) return "wrong result";
  if (!send.intact() || !recv.intact()) return "a byte outside the buffers was written";
  if (!c.in_place && std::memcmp(in_at, mine.data(), in_bytes) != 0) return "the input was changed";
  return "";
}

namespace {

// Ranks from the size of `everyone` on are still to come.
std::string prepare_next(const Case& c, int rank, const std::vector<Bytes>& in,
                         const AloneCarrier& alone, std::vector<purlin_call>* everyone) {
  const int next = static_cast<int>(everyone->size());
  if (next == c.n) return run_rank(c, rank, in, alone(*everyone));
  return run_rank(c, next, in, [&](const purlin_call& call, auto) {
    everyone->push_back(call);
    return prepare_next(c, rank, in, alone, everyone);
  });
}

}  // namespace

std::string run_alone(const Case& c, int rank, const std::vector<Bytes>& in,
                      const AloneCarrier& alone) {
  std::vector<purlin_call> everyone;
  return prepare_next(c, rank, in, alone, &everyone);
}

std::string describe(const Case& c) {
  return "collective " + std::to_string(c.collective) + ", " + std::to_string(c.n) +
         " ranks, dtype " + std::to_string(c.dtype) + ", op " + std::to_string(c.op) + ", path " +
         std::to_string(c.path) + ", count " + std::to_string(c.count) + ", offset " +
         std::to_string(c.offset) + (c.in_place ? ", in place" : "") + ", root " +
         std::to_string(c.root) + ", seed " + std::to_string(c.seed);
}

}  // namespace purlin::test
