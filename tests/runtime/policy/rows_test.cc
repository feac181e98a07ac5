#include "policy/rows.h"

#include "reading.h"

namespace purlin::policy {
namespace {

using testing::error_of;
using testing::holds;
using testing::must_read;
using testing::starts_with;

std::string tuning(std::initializer_list<const char*> rows) {
  std::string body = "tuning:\n  rows:\n";
  for (const char* row : rows) body += "    - {" + std::string(row) + "}\n";
  return body;
}

TEST_CASE("rows may stand in any order and touch") {
  const Policy policy =
      must_read(tuning({"bytes: 1MiB.., chunk: 64KiB", "bytes: 0..4KiB, chunk: 4KiB",
                        "bytes: 4KiB..1MiB, chunk: 16KiB"}));
  CHECK(policy.tuning_rows.size() == 3);
}

TEST_CASE("rows may begin above zero and end below the greatest size and number of ranks") {
  CHECK(error_of(tuning({"ranks: 2..4, bytes: 4KiB..1MiB, chunk: 4KiB"})).empty());
}

TEST_CASE("rows of different collectives or numbers of ranks do not meet") {
  CHECK(error_of(tuning({"collectives: [all_reduce], bytes: 0..1MiB, chunk: 4KiB",
                         "collectives: [all_gather], bytes: 2MiB.., chunk: 4KiB",
                         "collectives: [all_to_all], ranks: 2, bytes: 0..1MiB, chunk: 4KiB",
                         "collectives: [all_to_all], ranks: 3, bytes: 2MiB.., chunk: 4KiB"}))
            .empty());
}

TEST_CASE("an overlap names both rows at the later one") {
  const std::string error = error_of(tuning(
      {"bytes: 0..1MiB, chunk: 4KiB", "collectives: [all_reduce], bytes: 512KiB.., chunk: 8KiB"}));
  CHECK(starts_with(
      error,
      "p.yaml:5:7: tuning.rows: this row (all_reduce, 512KiB..) and the row at line 4 (every "
      "collective, 0..1MiB) overlap for all_reduce; let one end"));
  CHECK(holds(error, "the row at line 4"));
  CHECK(holds(error, "0..1MiB"));
  CHECK(holds(error, "512KiB.."));
}

TEST_CASE("equal rows, rows that both begin at 0 and rows inside others overlap") {
  CHECK(holds(error_of(tuning({"chunk: 4KiB", "chunk: 4KiB"})), "overlap"));
  CHECK(holds(error_of(tuning({"bytes: 0..1KiB, chunk: 4KiB", "bytes: 0..2KiB, chunk: 4KiB"})),
              "overlap"));
  CHECK(holds(error_of(tuning({"bytes: 0..0, chunk: 4KiB", "bytes: 0..2KiB, chunk: 4KiB"})),
              "overlap"));
  CHECK(
      holds(error_of(tuning({"bytes: 1KiB..8KiB, chunk: 4KiB", "bytes: 2KiB..4KiB, chunk: 4KiB"})),
            "overlap"));
}

TEST_CASE("a gap names the sizes that are left out") {
  const std::string error =
      error_of(tuning({"bytes: 1MiB.., chunk: 4KiB", "bytes: 0..256KiB, chunk: 4KiB"}));
  CHECK(starts_with(error, "p.yaml:5:7: "));
  CHECK(holds(error, "leave the sizes 256KiB..1MiB without a row"));
  CHECK(holds(error, "the row at line 4"));
}

TEST_CASE("a gap between numbers of ranks is found too") {
  const std::string error = error_of(
      "crossover:\n  rows:\n    - {ranks: 2, value: 4KiB}\n    - {ranks: 5..8, value: 4KiB}\n");
  CHECK(starts_with(error,
                    "p.yaml:5:7: crossover.rows: this row (every collective, 5..8 ranks) and "));
  CHECK(holds(error, "leave 3..4 ranks without a row"));
}

TEST_CASE("tables of single values are checked alike") {
  CHECK(
      holds(error_of("reduction: {rows: [{value: nvls, collectives: [all_reduce], bytes: 1MiB..}, "
                     "{value: score, bytes: ..2MiB}]}\n"),
            "overlap for all_reduce"));
  CHECK(holds(
      error_of("one_shot_limit: {rows: [{ranks: 2..4, value: 1KiB}, {ranks: 4, value: 1KiB}]}\n"),
      "overlap for"));
}

}  // namespace
}  // namespace purlin::policy
