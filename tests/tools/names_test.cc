#include "tools/names.h"

#include <doctest/doctest.h>

#include "tools/nearest.h"

namespace purlin::tools {
namespace {

TEST_CASE("every name reads back") {
  for (int i = 0; i < PURLIN_DTYPE_COUNT; ++i) CHECK(*parse_dtype(dtype_name(i)) == i);
  for (int i = 0; i < PURLIN_OP_COUNT; ++i) CHECK(*parse_op(op_name(i)) == i);
  for (int i = 0; i < PURLIN_CUSTOM; ++i) CHECK(*parse_collective(collective_name(i)) == i);
}

TEST_CASE("other spellings are understood") {
  CHECK(*parse_collective("AllReduce") == PURLIN_ALL_REDUCE);
  CHECK(*parse_collective("reduce-scatter-v") == PURLIN_REDUCE_SCATTER_V);
  CHECK(*parse_dtype("bfloat16") == PURLIN_BF16);
  CHECK(*parse_dtype("float") == PURLIN_F32);
  CHECK(*parse_op("premulsum") == PURLIN_PREMUL_SUM);
  CHECK(*parse_path("latency") == PURLIN_PATH_LATENCY);
  CHECK(*parse_reduction("nvls_required") == PURLIN_REDUCTION_NVLS_REQUIRED);
}

TEST_CASE("an unknown name is answered with the nearest one") {
  CHECK(parse_collective("al_reduce").error().find("did you mean \"all_reduce\"?") !=
        std::string::npos);
  CHECK(parse_dtype("bf61").error().find("did you mean \"bf16\"?") != std::string::npos);
  CHECK(parse_op("summ").error().find("did you mean \"sum\"?") != std::string::npos);
  CHECK(parse_op("xyzzy").error().find("did you mean") == std::string::npos);
  CHECK(parse_op("xyzzy").error().find("premul_sum") != std::string::npos);
}

TEST_CASE("lists keep their order and report the bad entry") {
  CHECK(parse_dtypes("all")->size() == PURLIN_DTYPE_COUNT);
  CHECK(*parse_dtypes("f32,bf16") == std::vector<purlin_dtype>{PURLIN_F32, PURLIN_BF16});
  CHECK(parse_ops("ALL")->size() == PURLIN_OP_COUNT);
  CHECK(parse_ops("sum,,max").error().find("\"\"") != std::string::npos);
  CHECK_FALSE(parse_dtypes("f32,f33").ok());
}

TEST_CASE("distance counts insertions, deletions, replacements and swaps") {
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "abc") == 0);
  CHECK(edit_distance("abc", "acb") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("what a collective takes") {
  CHECK(reduces(PURLIN_REDUCE_SCATTER_V));
  CHECK_FALSE(reduces(PURLIN_ALL_GATHER));
  CHECK(rooted(PURLIN_SCATTER));
  CHECK_FALSE(rooted(PURLIN_ALL_REDUCE));
  CHECK(takes_counts(PURLIN_ALL_TO_ALL_V));
  CHECK_FALSE(takes_counts(PURLIN_ALL_TO_ALL));
}

}  // namespace
}  // namespace purlin::tools
