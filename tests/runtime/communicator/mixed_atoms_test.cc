// Ranks of one communicator that are bound to different Atoms: the same bits on all.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <cstring>
#include <thread>

#include "level.h"
#include "purlin/purlin.h"
#include "reference/patterns.h"
#include "reference/reference.h"

using namespace purlin::test;
namespace reference = purlin::reference;

TEST_CASE("ranks on two different host Atoms reduce to the reference's bits") {
  const int n = 3;
  purlin_unique_id id;
  REQUIRE(purlin_get_unique_id(&id) == PURLIN_OK);
  const uint64_t count = 3001;
  std::vector<std::string> failures(n);
  std::vector<std::thread> threads;
  for (int r = 0; r < n; ++r) {
    threads.emplace_back([&, r] {
      std::string& failure = failures[static_cast<size_t>(r)];
      const std::string policy =
          fmt::format("version: 1\ncrossover: 1KiB\nplugins: {{path: [{}/tests/plugins/testhost]}}\n"
                      "datapath: {{prefer: [{}]}}\n", PURLIN_BINARY_DIR, r == 1 ? "testhost" : "host");
      purlin_comm_options options = PURLIN_COMM_OPTIONS_INIT;
      options.nranks = n;
      options.rank = r;
      options.unique_id = &id;
      options.device_kind = PURLIN_DEVICE_HOST;
      options.policy_text = policy.c_str();
      options.timeout_ms = 30'000;
      purlin_comm_t comm = nullptr;
      if (purlin_comm_create(&comm, &options) != PURLIN_OK) {
        failure = purlin_last_error();
        return;
      }
      for (int d = 0; d < PURLIN_DTYPE_COUNT && failure.empty(); ++d) {
        const auto dtype = static_cast<purlin_dtype>(d);
        for (int op = 0; op < PURLIN_PREMUL_SUM && failure.empty(); ++op) {
          for (int path : {PURLIN_PATH_LATENCY, PURLIN_PATH_THROUGHPUT}) {
            std::vector<std::vector<unsigned char>> in;
            std::vector<const void*> sources;
            for (int s = 0; s < n; ++s)
              in.push_back(reference::mixed_elements(dtype, count, seed() + static_cast<uint64_t>(s)));
            for (const auto& bytes : in) sources.push_back(bytes.data());
            const auto& own = in[static_cast<size_t>(r)];
            std::vector<unsigned char> want(own.size()), got(own.size());
            reference::reduce(dtype, static_cast<purlin_op>(op), sources.data(), n, n, count,
                              want.data());
            purlin_call call{};
            call.struct_size = sizeof call;
            call.collective = PURLIN_ALL_REDUCE;
            call.dtype = d;
            call.op = op;
            call.send = own.data();
            call.recv = got.data();
            call.count = count;
            call.path = path;
            if (purlin_run(&call, comm, nullptr) != PURLIN_OK) failure = purlin_last_error();
            else if (got != want) failure = fmt::format("dtype {} op {} path {}", d, op, path);
          }
        }
      }
      purlin_comm_destroy(comm);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int r = 0; r < n; ++r) {
    CAPTURE(r);
    CHECK(failures[static_cast<size_t>(r)] == "");
  }
}
