// Ranks as threads of one process.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "rendezvous/rendezvous.h"

namespace purlin_test {

inline purlin::Address fresh_address() {
  const auto id = purlin::make_unique_id();
  return purlin::address_of(id.value()).value();
}

inline purlin::JoinOptions options_for(const purlin::Address& address, int rank, int nranks,
                                       int timeout_ms = 20'000) {
  purlin::JoinOptions options;
  options.address = address;
  options.rank = rank;
  options.nranks = nranks;
  options.timeout = std::chrono::milliseconds(timeout_ms);
  return options;
}

// Runs body(rank) on `nranks` threads and returns what each said: "" when all went well.
// (doctest's assertions belong to the test's own thread.)
inline std::vector<std::string> run_ranks(int nranks, const std::function<std::string(int)>& body) {
  std::vector<std::string> said(static_cast<size_t>(nranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < nranks; ++rank)
    threads.emplace_back([&, rank] { said[static_cast<size_t>(rank)] = body(rank); });
  for (auto& thread : threads) thread.join();
  return said;
}

#define PURLIN_RANK_CHECK(condition) \
  if (!(condition)) return std::string("failed: " #condition " in line ") + std::to_string(__LINE__)
#define PURLIN_RANK_OK(status) \
  if (const purlin::Status& s_ = (status); !s_) return s_.message()

}  // namespace purlin_test
