#include "serial.h"

namespace purlin::test {

using snac::Collective;
using snac::u32;
using snac::u64;

std::vector<Bytes> random_buffers(u32 n, u64 bytes, std::mt19937_64* random) {
  std::vector<Bytes> buffers(n, Bytes(bytes));
  for (Bytes& buffer : buffers)
    for (unsigned char& byte : buffer) byte = static_cast<unsigned char>((*random)());
  return buffers;
}

Bytes serial_result(Collective collective, u32 n, u32 rank, u32 root, u64 count,
                    const std::vector<Bytes>& in) {
  Bytes out;
  auto sum = [&](u64 begin, u64 bytes) {
    Bytes total(bytes);
    for (u32 s = 0; s < n; ++s)
      for (u64 i = 0; i < bytes; ++i)
        total[i] = static_cast<unsigned char>(total[i] + in[s][begin + i]);
    return total;
  };
  switch (collective) {
    case Collective::kAllGather:
    case Collective::kGather:
      if (collective == Collective::kGather && rank != root) return out;
      for (u32 s = 0; s < n; ++s)
        out.insert(out.end(), in[s].begin(), in[s].begin() + static_cast<long>(count));
      return out;
    case Collective::kReduceScatter:
      return sum(rank * count, count);
    case Collective::kAllReduce:
      return sum(0, count);
    case Collective::kReduce:
      return rank == root ? sum(0, count) : out;
    case Collective::kBroadcast:
      return Bytes(in[root].begin(), in[root].begin() + static_cast<long>(count));
    case Collective::kScatter:
      return Bytes(in[root].begin() + static_cast<long>(rank * count),
                   in[root].begin() + static_cast<long>((rank + 1) * count));
    default:
      for (u32 s = 0; s < n; ++s)
        out.insert(out.end(), in[s].begin() + static_cast<long>(rank * count),
                   in[s].begin() + static_cast<long>((rank + 1) * count));
      return out;
  }
}

bool one_region(Collective c) {
  return c == Collective::kAllReduce || c == Collective::kBroadcast || c == Collective::kReduce;
}

}  // namespace purlin::test
