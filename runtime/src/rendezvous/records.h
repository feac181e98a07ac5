// Fixed-size records that every rank tells the others.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <type_traits>

#include "rendezvous/rendezvous.h"

namespace purlin {

// Collective: every rank's record, in rank order. `about` is for the error of ranks that run
// different versions: "its GPU memory".
template <class T>
Result<std::vector<T>> gather_records(const T& mine, const char* about, Rendezvous& rendezvous) {
  static_assert(std::is_trivially_copyable_v<T>);
  auto blobs = rendezvous.all_gather_blob(std::as_bytes(std::span(&mine, 1)));
  if (!blobs) return blobs.status();
  std::vector<T> all(blobs->size());
  for (size_t r = 0; r < all.size(); ++r) {
    if ((*blobs)[r].size() != sizeof(T))
      return Status(
          PURLIN_MISMATCH,
          fmt::format("rank {} sent {} bytes about {}, this rank expects {}: all ranks must "
                      "use the same version of Purlin",
                      r, (*blobs)[r].size(), about, sizeof(T)));
    std::memcpy(&all[r], (*blobs)[r].data(), sizeof(T));
  }
  return all;
}

}  // namespace purlin
