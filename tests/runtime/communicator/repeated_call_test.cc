// Calls that repeat the one before: with the same buffers, others, in place, wrong ones, and
// between calls that differ in one thing.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "ranks.h"

using namespace purlin::test;

TEST_CASE("a repeated call uses the buffers that it is given, and these are checked") {
  const int n = 3;
  const Ranks ranks(n);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  std::vector<std::string> wrong(n);
  ranks.each([&](int r) {
    purlin_comm_t comm = ranks.comm(r);
    std::string& said = wrong[static_cast<size_t>(r)];
    const auto check = [&](bool right, const char* what) {
      if (!right && said.empty()) said = std::string(what) + ": " + purlin_last_error();
    };
    const auto all_reduce = [&](const std::vector<int32_t>& in, std::vector<int32_t>& out) {
      return purlin_all_reduce(in.data(), out.data(), in.size(), PURLIN_I32, PURLIN_SUM, comm,
                               nullptr) == PURLIN_OK;
    };
    for (const size_t count : {size_t{2}, size_t{5000}}) {
      std::vector<int32_t> in(count, r), out(count, -1), other(count, -1), in2(count, 10 * r);
      check(all_reduce(in, out) && out[count - 1] == 3, "first");
      check(all_reduce(in2, out) && out[count - 1] == 30, "another input");
      check(all_reduce(in, other) && other[count - 1] == 3, "another output");
      check(all_reduce(in2, in2) && in2[count - 1] == 30, "in place");
      check(all_reduce(in, out) && out[0] == 3, "out of place again");
      check(purlin_all_reduce(nullptr, out.data(), count, PURLIN_I32, PURLIN_SUM, comm, nullptr) ==
                PURLIN_INVALID_ARGUMENT,
            "null");
      check(purlin_all_reduce(in.data(), in.data() + 1, count, PURLIN_I32, PURLIN_SUM, comm,
                              nullptr) == PURLIN_INVALID_ARGUMENT,
            "overlap");
      check(all_reduce(in, out) && out[0] == 3, "after errors");
      check(purlin_all_reduce(in.data(), out.data(), count, PURLIN_I32, PURLIN_MAX, comm,
                              nullptr) == PURLIN_OK &&
                out[0] == 2,
            "another operation");
      check(purlin_all_reduce(in.data(), out.data(), count - 1, PURLIN_I32, PURLIN_SUM, comm,
                              nullptr) == PURLIN_OK &&
                out[0] == 3 && out[count - 1] == 2,
            "another count");
      for (int root = 0; root < n; ++root)
        check(purlin_broadcast(in.data(), out.data(), count, PURLIN_I32, root, comm, nullptr) ==
                      PURLIN_OK &&
                  out[count - 1] == root,
              "another root");
      const int32_t two = 2;
      purlin_call call{};
      call.struct_size = sizeof call;
      call.collective = PURLIN_ALL_REDUCE;
      call.dtype = PURLIN_I32;
      call.op = PURLIN_PREMUL_SUM;
      call.send = in.data();
      call.recv = out.data();
      call.count = count;
      for (const int32_t factor : {two, two + 1}) {
        call.scalar = &factor;
        check(purlin_run(&call, comm, nullptr) == PURLIN_OK && out[0] == 3 * factor, "scaled");
      }
    }
  });
  for (int r = 0; r < n; ++r) CHECK(wrong[static_cast<size_t>(r)] == "");
}
