#include "device/budget.h"

#include <atomic>
#include <thread>

#include "gpu/fake_gpu.h"

namespace purlin {
namespace {

using test::check_refusal;
using test::FakeGpu;

BudgetRequest request(uint64_t communicator, unsigned local_ranks, unsigned ctas,
                      bool overlapping = false) {
  return {communicator, local_ranks, ctas, overlapping, "c" + std::to_string(communicator)};
}

TEST_CASE("a share is the multiprocessors over the ranks") {
  FakeGpu gpu;
  const auto device = gpu.device();
  CHECK(budget_share(*device, 1, false) == 132);
  CHECK(budget_share(*device, 8, false) == 16);
  CHECK(budget_share(*device, 8, true) == 8);
  CHECK(budget_share(*device, 500, false) == 1);
}

TEST_CASE("ranks that do not fit together are refused with the figures") {
  FakeGpu gpu;
  const auto device = gpu.device();
  CHECK(claim_budget(*device, request(1, 8, 16)).is_ok());
  check_refusal(
      claim_budget(*device, request(1, 8, 17)).status(), PURLIN_UNSUPPORTED,
      {"communicator c1", "8 ranks with 17 CTAs", "136 CTAs", "keeps 132", "cta_budget to 16"});
  check_refusal(claim_budget(*device, request(1, 4, 20, true)).status(), PURLIN_UNSUPPORTED,
                {"counted twice", "160 CTAs", "cta_budget to 16"});
}

TEST_CASE("the ranks of a communicator claim once, and free with the last") {
  FakeGpu gpu;
  const auto device = gpu.device();
  std::vector<std::unique_ptr<BudgetClaim>> claims;
  for (int rank = 0; rank < 2; ++rank) {
    claims.push_back(std::move(claim_budget(*device, request(1, 2, 60))).value());
  }
  check_refusal(claim_budget(*device, request(2, 1, 20)).status(), PURLIN_UNSUPPORTED,
                {"communicator c2", "20 CTAs", "12 left", "c1 (2 ranks, 120 CTAs)"});
  claims.pop_back();
  CHECK_FALSE(claim_budget(*device, request(2, 1, 20)).is_ok());
  claims.pop_back();
  CHECK(claim_budget(*device, request(2, 1, 20)).is_ok());
}

TEST_CASE("single ranks of many communicators may exceed the device and are then chained") {
  FakeGpu gpu;
  const auto device = gpu.device();
  std::vector<std::unique_ptr<BudgetClaim>> claims;
  for (uint64_t i = 0; i < 200; ++i) {
    claims.push_back(std::move(claim_budget(*device, request(i, 1, 16))).value());
    CHECK(claims.front()->must_chain() == (i >= 8));
  }
  check_refusal(claim_budget(*device, request(999, 2, 1)).status(), PURLIN_UNSUPPORTED,
                {"communicator c999", "0 left"});
  claims.resize(8);
  CHECK_FALSE(claims.front()->must_chain());
}

TEST_CASE("a rank that is ahead waits for its peers on the device, but not for ever") {
  FakeGpu gpu;
  const auto device = gpu.device();
  const auto first = std::move(claim_budget(*device, request(1, 2, 60))).value();
  const auto second = std::move(claim_budget(*device, request(1, 2, 60))).value();
  first->await_peers();
  first->count_launches(1);
  const auto start = std::chrono::steady_clock::now();
  first->await_peers();  // the peer never comes
  CHECK(std::chrono::steady_clock::now() - start >= BudgetClaim::kPace);
  std::atomic<bool> launched = false;
  std::thread late([&] {
    launched = true;
    second->count_launches(1);
  });
  while (!launched) std::this_thread::yield();
  late.join();
  first->await_peers();
  second->await_peers();
  first->count_launches(1);
  second->await_peers();  // is behind, waits for nobody
}

TEST_CASE("devices have budgets of their own") {
  FakeGpu gpu;
  const auto first = claim_budget(*gpu.device(0), request(1, 2, 66));
  const auto second = claim_budget(*gpu.device(1), request(2, 2, 66));
  CHECK(first.is_ok());
  CHECK(second.is_ok());
}

TEST_CASE("a grid that cannot be resident is refused with the occupancy") {
  FakeGpu gpu;
  const auto program = gpu.program(gpu.device(), "snac", 1024);
  REQUIRE(program->blocks_per_multiprocessor() == 2);
  CHECK(check_residency(*program, 132, 2).is_ok());
  check_refusal(check_residency(*program, 133, 2), PURLIN_UNSUPPORTED,
                {"snac", "133 CTAs for each of 2 ranks",
                 "132 multiprocessors take 2 each, 264 in all", "cta_budget to 132"});
}

}  // namespace
}  // namespace purlin
