// Comparison with NCCL: each collective is asked of it as its users would, in the same run.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "stand_in.h"
#include "tools/names.h"
#include "tools/nccl_library.h"
#include "tools/perf_session.h"

namespace purlin::tools {
namespace {

std::string log_of_nccl() {
  void* library = dlopen(PURLIN_FAKE_NCCL, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  return reinterpret_cast<const char* (*)()>(dlsym(library, "fake_nccl_log"))();
}

struct Ran {
  PerfResult result;
  std::string table, complaints, log;
};

PerfArguments asked(int collective, const char* versus, const char* op) {
  PerfArguments given;
  given.collective = collective_name(collective);
  given.ranks = 2;
  given.end = collective == PURLIN_BARRIER ? "" : "1024";
  given.iterations = 1;
  given.device = "cuda";
  given.versus = versus;
  given.nccl = PURLIN_FAKE_NCCL;
  given.ops = op;
  given.check = true;
  return given;
}

std::optional<std::string> nothing(const char*) { return std::nullopt; }

Ran run(const PerfArguments& given, const Environment& environment) {
  setenv("PURLIN_CUDA_DRIVER", PURLIN_FAKE_DRIVER, 1);
  const auto options = check_arguments(given, environment);
  REQUIRE_MESSAGE(options.ok(), (options.ok() ? "" : options.error()));
  set_fault(Fault::kNone);
  log_of_nccl();
  Ran ran;
  ran.result = run_perf(*options, {[&](const std::string& line) { ran.table += line + "\n"; },
                                   [&](int, const std::string& text) { ran.complaints += text; }});
  ran.log = log_of_nccl();
  return ran;
}

Ran run(int collective, const char* versus = "nccl", const char* op = "") {
  return run(asked(collective, versus, op), nothing);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("collectives that NCCL has are asked of it as they are") {
  CHECK(has(run(PURLIN_ALL_REDUCE, "nccl", "max").log, "1: all_reduce 256 type 7 op 2"));
  CHECK(has(run(PURLIN_ALL_REDUCE, "nccl", "min").log, "0: all_reduce 256 type 7 op 3"));
  CHECK(has(run(PURLIN_REDUCE_SCATTER).log, "1: reduce_scatter 128 type 7 op 0"));
  CHECK(has(run(PURLIN_ALL_GATHER).log, "0: all_gather 128 type 7"));
  CHECK(has(run(PURLIN_BROADCAST).log, "1: broadcast 256 type 7 op -1 peer 0"));
  CHECK(has(run(PURLIN_REDUCE).log, "1: reduce 256 type 7 op 0 peer 0"));
}

TEST_CASE("the others are what its users write: groups of simpler calls") {
  const std::string gathered = run(PURLIN_ALL_GATHER_V).log;
  CHECK(has(gathered, "0: broadcast 128 type 7 op -1 peer 0"));
  CHECK(has(gathered, "0: broadcast 128 type 7 op -1 peer 1"));
  CHECK(has(run(PURLIN_REDUCE_SCATTER_V).log, "0: reduce 128 type 7 op 0 peer 1"));
  for (int collective : {PURLIN_ALL_TO_ALL, PURLIN_ALL_TO_ALL_V}) {
    const std::string log = run(collective).log;
    for (const char* part : {"0: send 128 type 7 op -1 peer 1", "0: recv 128 type 7 op -1 peer 1",
                             "1: send 128 type 7 op -1 peer 1", "1: recv 128 type 7 op -1 peer 0"})
      CHECK(has(log, part));
  }
  const std::string scattered = run(PURLIN_SCATTER).log;
  CHECK(has(scattered, "0: send 128 type 7 op -1 peer 1"));
  CHECK(has(scattered, "1: recv 128 type 7 op -1 peer 0"));
  CHECK_FALSE(has(scattered, "1: send"));
  const std::string collected = run(PURLIN_GATHER).log;
  CHECK(has(collected, "0: recv 128 type 7 op -1 peer 1"));
  CHECK(has(collected, "1: send 128 type 7 op -1 peer 0"));
  const std::string ring = run(PURLIN_SEND_RECV).log;
  CHECK(has(ring, "1: send 256 type 7 op -1 peer 0"));
  CHECK_FALSE(has(ring, "1: send 256 type 7 op -1 peer 1"));
}

TEST_CASE("a row shows NCCL's time and the ratio, and stays checked") {
  const Ran ran = run(PURLIN_ALL_GATHER);
  CHECK(ran.complaints == "");
  CHECK(ran.result.wrong == 0);
  CHECK(has(ran.table, "ratio"));
  size_t start = 0;
  for (size_t end; (end = ran.table.find('\n', start)) != std::string::npos; start = end + 1)
    CHECK(end - start <= 100);
  const auto json = nlohmann::json::parse(ran.result.json);
  CHECK(json["nccl"] == "2.28.9");
  CHECK(json["versus"] == "nccl");
  CHECK(json["rows"][0]["nccl_ratio"] == 1.0);
  CHECK(json["rows"][0]["nccl_time_us"]["median"] > 0);
}

TEST_CASE("host ranks are compared with a library that was told to carry them, and with no other") {
  PerfArguments given = asked(PURLIN_ALL_GATHER, "nccl", "");
  given.device = "host";
  const Ran ran = run(given, [](const char* name) -> std::optional<std::string> {
    if (std::string(name) == "PURLIN_NCCL_DEVICE") return "host";
    return std::nullopt;
  });
  CHECK(ran.complaints == "");
  CHECK(has(ran.log, "1: all_gather 128 type 7"));
  const auto json = nlohmann::json::parse(ran.result.json);
  CHECK(json["device"] == "host");
  CHECK(json["rows"][0]["nccl_time_us"]["median"] > 0);
  CHECK(json["nccl_communicator"]["create_ms"] > 0);
  const auto refused = check_arguments(given, nothing);
  REQUIRE_FALSE(refused.ok());
  CHECK(has(refused.error(), "works on GPUs only"));
}

TEST_CASE("what NCCL has not is left out or refused") {
  CHECK(run(PURLIN_BARRIER).log.empty());
  CHECK(run(PURLIN_ALL_REDUCE, "nccl", "premul_sum").log.empty());
  CHECK(has(run(PURLIN_ALL_REDUCE, "nccl-sym").complaints, "no symmetric windows"));
  CHECK(has(NcclLibrary::open("/nowhere/libnccl.so").error(), "--nccl"));
  CHECK(has(NcclLibrary::open(PURLIN_FAKE_DRIVER).error(), "is no NCCL"));
}

}  // namespace
}  // namespace purlin::tools
