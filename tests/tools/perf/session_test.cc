// The whole of `purlin perf` against a stand-in for the library: right results pass for every
// collective and form, and each way of going wrong is noticed.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "level.h"
#include "stand_in.h"
#include "tools/names.h"
#include "tools/perf_session.h"

namespace purlin::tools {
namespace {

struct Ran {
  PerfResult result;
  std::vector<std::string> table;
  std::vector<std::pair<int, std::string>> complaints;
};

PerfArguments asked(int collective) {
  PerfArguments given;
  given.collective = collective_name(collective);
  given.ranks = 3;
  given.begin = "1000";
  given.end = "50000";
  given.factor = 50;
  given.check = true;
  given.iterations = 3;
  given.warmup = 1;
  given.device = "host";
  if (collective == PURLIN_BARRIER) given.begin = given.end = "";
  return given;
}

Ran run(const PerfArguments& given, Fault fault = Fault::kNone) {
  const auto options = check_arguments(
      given, [](const char*) -> std::optional<std::string> { return std::nullopt; });
  REQUIRE_MESSAGE(options.ok(), (options.ok() ? "" : options.error()));
  set_fault(fault);
  Ran ran;
  ran.result = run_perf(*options, {[&](const std::string& line) { ran.table.push_back(line); },
                                   [&](int rank, const std::string& text) {
                                     ran.complaints.push_back({rank, text});
                                   }});
  return ran;
}

bool complained(const Ran& ran, int rank, const std::string& part) {
  for (const auto& [who, text] : ran.complaints)
    if (who == rank && text.find(part) != std::string::npos) return true;
  return false;
}

TEST_CASE("right results pass for every collective, form and placement") {
  for (int collective = 0; collective < PURLIN_CUSTOM; ++collective) {
    for (const char* placement : {"", "gapped", "reversed"}) {
      for (bool in_place : {false, true}) {
        PerfArguments given = asked(collective);
        const bool parts = takes_counts(collective) || collective == PURLIN_SEND_RECV;
        if (*placement && !parts) continue;
        if (in_place && in_place_refusal(collective)) continue;
        given.placement = placement;
        given.in_place = in_place;
        given.misalign = in_place ? 4 : 0;
        given.random_counts = *placement && collective != PURLIN_SEND_RECV;
        if (rooted(collective)) given.root = 1;
        CAPTURE(given.collective);
        CAPTURE(placement);
        CAPTURE(in_place);
        const Ran ran = run(given);
        CHECK_FALSE(ran.result.failed);
        CHECK(ran.result.wrong == 0);
        CHECK(ran.complaints.empty());
        CHECK(ran.result.rows == (collective == PURLIN_BARRIER ? 1 : 2));
      }
    }
  }
}

TEST_CASE("a rank alone passes for every collective and form, and is told of what is wrong") {
  for (int collective = 0; collective < PURLIN_CUSTOM; ++collective) {
    if (collective == PURLIN_SEND_RECV) continue;
    for (bool in_place : {false, true}) {
      if (in_place && in_place_refusal(collective)) continue;
      PerfArguments given = asked(collective);
      given.in_place = in_place;
      given.alone = 1;
      CAPTURE(given.collective);
      CAPTURE(in_place);
      const Ran ran = run(given);
      CHECK_FALSE(ran.result.failed);
      CHECK(ran.result.wrong == 0);
      CHECK(ran.complaints.empty());
      CHECK(ran.result.rows == (collective == PURLIN_BARRIER ? 1 : 2));
      CHECK(ran.table.front().find("rank 1 alone") != std::string::npos);
      CHECK(nlohmann::json::parse(ran.result.json)["alone"] == 1);
      // Rows: checked, warm-up, timed; in place one more is checked.
      CHECK(calls_made() == static_cast<int>(ran.result.rows) * (2 + 1 + 3 + (in_place ? 1 : 0)));
    }
  }
  PerfArguments given = asked(PURLIN_ALL_REDUCE);
  given.alone = 1;
  for (Fault fault : {Fault::kFlipBit, Fault::kSkipLast, Fault::kTouchSend, Fault::kBeyond}) {
    const Ran ran = run(given, fault);
    CHECK(ran.result.wrong > 0);
    CHECK(complained(ran, 1, ""));
  }
  given.alone = 2;
  CHECK(run(given, Fault::kFlipBit).result.wrong == 0);  // the fault is rank 1's
}

TEST_CASE("every type and operation passes") {
  PerfArguments given = asked(PURLIN_ALL_REDUCE);
  given.dtypes = given.ops = "all";
  given.begin = given.end = "1000";
  const Ran ran = run(given);
  CHECK(ran.result.rows == size_t{PURLIN_DTYPE_COUNT} * PURLIN_OP_COUNT);
  CHECK(ran.result.wrong == 0);
  CHECK(ran.complaints.empty());
}

TEST_CASE("a wrong bit, a missing byte or a wrong order is found on the rank that has it") {
  for (Fault fault : {Fault::kFlipBit, Fault::kSkipLast, Fault::kReverse}) {
    for (int collective : {PURLIN_ALL_REDUCE, PURLIN_REDUCE_SCATTER, PURLIN_REDUCE_SCATTER_V,
                           PURLIN_ALL_GATHER, PURLIN_ALL_TO_ALL_V}) {
      if (fault == Fault::kReverse && !reduces(collective)) continue;
      CAPTURE(collective_name(collective));
      CAPTURE(static_cast<int>(fault));
      const Ran ran = run(asked(collective), fault);
      CHECK(ran.result.wrong > 0);
      CHECK_FALSE(ran.result.failed);
      CHECK(complained(ran, 1, "was expected"));
      CHECK_FALSE(complained(ran, 0, ""));
      CHECK(ran.table.back().find("FAILED") != std::string::npos);
    }
  }
}

TEST_CASE("changed send buffers, guards and gaps are found") {
  CHECK(complained(run(asked(PURLIN_ALL_REDUCE), Fault::kTouchSend), 1, "send buffer, element 0"));
  CHECK(complained(run(asked(PURLIN_ALL_REDUCE), Fault::kBeyond), 1, "guard bytes changed"));
  CHECK(complained(run(asked(PURLIN_ALL_GATHER), Fault::kBefore), 1, "at byte -1"));
  PerfArguments given = asked(PURLIN_ALL_GATHER_V);
  given.placement = "gapped";
  CHECK(complained(run(given, Fault::kFillGaps), 1, "must not write"));
}

TEST_CASE("without --check a wrong result is not noticed, and the table says so") {
  PerfArguments given = asked(PURLIN_ALL_REDUCE);
  given.check = false;
  const Ran ran = run(given, Fault::kFlipBit);
  CHECK(ran.result.wrong == 0);
  CHECK(ran.table.back() == "# 2 rows, not checked");
}

TEST_CASE("an error of one rank ends the run on all, each with its own words") {
  const Ran late = run(asked(PURLIN_ALL_REDUCE), Fault::kFailRun);
  CHECK(late.result.failed);
  CHECK(complained(late, 1, "all_reduce f32 sum of 1000B: rank 1 stumbled"));
  CHECK((complained(late, 0, "rank 1 is lost") || complained(late, 2, "rank 1 is lost")));
  const Ran early = run(asked(PURLIN_ALL_REDUCE), Fault::kFailCreate);
  CHECK(early.result.failed);
  CHECK(complained(early, 1, "rank 1 cannot join"));
  CHECK(early.result.rows == 0);
  CHECK(early.complaints.size() == 3);
  CHECK((complained(early, 0, "ranks 2 say the same") ||
         complained(early, 2, "ranks 0 say the same")));
}

TEST_CASE("registered buffers give the same digests, and are given back") {
  for (int collective : {PURLIN_ALL_REDUCE, PURLIN_ALL_GATHER_V, PURLIN_ALL_TO_ALL}) {
    PerfArguments given = asked(collective);
    const auto digests = [](const Ran& ran) {
      const auto document = nlohmann::json::parse(ran.result.json);
      std::vector<std::string> all;
      for (const auto& row : document["rows"]) all.push_back(row["digest"]);
      CHECK(all.size() == 2);
      return all;
    };
    const Ran ordinary = run(given);
    CHECK(registered().ever == 0);
    given.registered = true;
    const Ran ran = run(given);
    CHECK(ran.complaints.empty());
    CHECK(digests(ran) == digests(ordinary));
    CHECK(digests(run(given, Fault::kFlipBit)) != digests(ordinary));
    CHECK(registered().ever == 2 * 2 * 3);  // sizes, buffers, ranks
    CHECK(registered().now == 0);
    const auto json = nlohmann::json::parse(ran.result.json);
    CHECK(json["registered"] == true);
    CHECK(json["communicator"]["create_ms"] > 0);
  }
  PerfArguments given = asked(PURLIN_ALL_REDUCE);
  given.registered = true;
  const Ran failed = run(given, Fault::kFailRegister);
  CHECK(failed.result.failed);
  CHECK(complained(failed, 1, "rank 1 cannot register"));
  CHECK(registered().now == 0);
}

TEST_CASE("a launched process is one rank") {
  const auto options = check_arguments(
      [] {
        PerfArguments given = asked(PURLIN_ALL_REDUCE);
        given.ranks = -1;
        return given;
      }(),
      [](const char* name) -> std::optional<std::string> {
        if (std::string(name) == "RANK") return "0";
        if (std::string(name) == "WORLD_SIZE") return "1";
        return std::nullopt;
      });
  REQUIRE(options.ok());
  CHECK(options->as_processes);
  set_fault(Fault::kNone);
  int lines = 0;
  const PerfResult result =
      run_perf(*options, {[&](const std::string&) { ++lines; }, [](int, const std::string&) {}});
  CHECK(result.rows == 2);
  CHECK(result.wrong == 0);
  CHECK(lines == 4);
}

TEST_CASE("the table has at most 100 columns and a line a row") {
  PerfArguments given = asked(PURLIN_REDUCE_SCATTER);
  given.ops = "premul_sum";
  given.dtypes = "f8e4m3";
  const Ran ran = run(given);
  REQUIRE(ran.table.size() == 4);
  std::string all;
  for (const std::string& entry : ran.table) all += entry + "\n";
  size_t start = 0;
  for (size_t end; (end = all.find('\n', start)) != std::string::npos; start = end + 1)
    CHECK(end - start <= 100);
  CHECK(ran.table[1].find("premul_sum") != std::string::npos);
  CHECK(ran.table[1].find("999") != std::string::npos);  // 1000 bytes among 3 ranks
}

TEST_CASE("the document holds what the table holds, and more") {
  const Ran ran = run(asked(PURLIN_ALL_GATHER_V));
  const auto json = nlohmann::json::parse(ran.result.json);
  CHECK(json["collective"] == "all_gather_v");
  CHECK(json["ranks"] == 3);
  CHECK(json["wrong"] == 0);
  REQUIRE(json["rows"].size() == 2);
  const auto& row = json["rows"][1];
  CHECK(row["size"] == 49992);  // 50,000 bytes in three whole parts of f32
  CHECK(row["checked_calls"] == 3);
  CHECK(row["calls"] == 3);
  CHECK(row["rank_median_us"].size() == 3);
  CHECK(row["time_us"]["p99"] >= row["time_us"]["median"]);
  CHECK(row["counts"][0].size() == 3);
}

TEST_CASE("a row makes the calls it was asked for") {
  run(asked(PURLIN_ALL_REDUCE));
  // Rows, ranks; checked, warm-up, estimate, timed.
  CHECK(calls_made() == 2 * 3 * (2 + 1 + 3 + 3));
}

}  // namespace
}  // namespace purlin::tools
