// Who decides whether the switch is used, and what becomes of a wish that cannot be had.
#include <doctest/doctest.h>

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <thread>

#include "level.h"
#include "runtime/communicator/ranks.h"
#include "test_switch.h"

using namespace purlin::test;

namespace {

struct Told {
  purlin_status status = PURLIN_OK;
  std::string text;
  bool switched = false;
  bool exact = true;
};

purlin_call sum_call(int dtype, int reduction) {
  purlin_call call{};
  call.struct_size = sizeof call;
  call.collective = PURLIN_ALL_REDUCE;
  call.dtype = dtype;
  call.reduction = reduction;
  return call;
}

// A sum of 1s as `call` says on every rank; the dtype is of 32-bit integers or u8.
Told run_sum(const Ranks& ranks, purlin_call call) {
  const uint64_t count = 1000;
  Told told;
  std::vector<Told> each(static_cast<size_t>(ranks.size()));
  const SwitchUse before = switch_use();
  ranks.each([&](int r) {
    Told& mine = each[static_cast<size_t>(r)];
    purlin_call own = call;
    own.count = count;
    std::vector<uint32_t> in32(count, 1), out32(count);
    std::vector<uint8_t> in8(count, 1), out8(count);
    const bool wide = call.dtype == PURLIN_U32;
    own.send = wide ? static_cast<const void*>(in32.data()) : in8.data();
    own.recv = wide ? static_cast<void*>(out32.data()) : out8.data();
    mine.status = purlin_run(&own, ranks.comm(r), nullptr);
    if (mine.status != PURLIN_OK) mine.text = purlin_last_error();
    const auto n = static_cast<unsigned>(ranks.size());
    mine.exact = wide ? out32 == std::vector<uint32_t>(count, n)
                      : out8 == std::vector<uint8_t>(count, static_cast<uint8_t>(n));
  });
  told.status = each[0].status;
  told.text = each[0].text;
  for (const Told& one : each) {
    CHECK(one.status == told.status);
    told.exact = told.exact && one.exact;
  }
  told.switched = !(switch_use() == before);
  return told;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

int lines(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("SCORE is the default, and a call's own wish for the switch then says why it cannot be had") {
  const NoOffSwitches none;
  CaughtErrors log;
  const Ranks ranks(2, switch_policy("score"));
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  const Told plain = run_sum(ranks, sum_call(PURLIN_U32, PURLIN_REDUCTION_POLICY));
  CHECK(plain.exact);
  CHECK_FALSE(plain.switched);
  const Told wished = run_sum(ranks, sum_call(PURLIN_U32, PURLIN_REDUCTION_NVLS));
  CHECK(wished.exact);
  CHECK_FALSE(wished.switched);
  const Told required = run_sum(ranks, sum_call(PURLIN_U32, PURLIN_REDUCTION_NVLS_REQUIRED));
  CHECK(required.status == PURLIN_UNSUPPORTED);
  CHECK_MESSAGE(holds(required.text, "purlin_call::reduction"), required.text);
  CHECK_MESSAGE(holds(required.text, "name nvls in a row of `reduction`"), required.text);
  CHECK(run_sum(ranks, sum_call(PURLIN_U32, PURLIN_REDUCTION_POLICY)).exact);
  CHECK(log.text() == "");
}

TEST_CASE("a call's own wish wins over the policy, either way") {
  const NoOffSwitches none;
  const Ranks ranks(3, switch_policy("{rows: [{collectives: [all_reduce], bytes: 1MiB.., value: nvls}]}"));
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  CHECK_FALSE(run_sum(ranks, sum_call(PURLIN_U32, PURLIN_REDUCTION_POLICY)).switched);
  const Told wished = run_sum(ranks, sum_call(PURLIN_U32, PURLIN_REDUCTION_NVLS));
  CHECK(wished.switched);
  CHECK(wished.exact);
  purlin_call by_path = sum_call(PURLIN_U32, PURLIN_REDUCTION_POLICY);
  by_path.path = PURLIN_PATH_SWITCH;
  CHECK(run_sum(ranks, by_path).switched);
  const Ranks always(3, switch_policy("nvls-required"));
  CHECK(run_sum(always, sum_call(PURLIN_U32, PURLIN_REDUCTION_POLICY)).switched);
  const Told taken_back = run_sum(always, sum_call(PURLIN_U32, PURLIN_REDUCTION_SCORE));
  CHECK_FALSE(taken_back.switched);
  CHECK(taken_back.exact);
}

TEST_CASE("what the switch's Atom cannot reduce goes by SCORE, or is an error where NVLS is required") {
  const NoOffSwitches none;
  const Ranks preferred(2, switch_policy("nvls"));
  REQUIRE_MESSAGE(preferred.creation_error().empty(), preferred.creation_error());
  const Told bytes = run_sum(preferred, sum_call(PURLIN_U8, PURLIN_REDUCTION_POLICY));
  CHECK(bytes.exact);
  CHECK_FALSE(bytes.switched);
  CHECK(run_sum(preferred, sum_call(PURLIN_U32, PURLIN_REDUCTION_POLICY)).switched);
  purlin_call product = sum_call(PURLIN_U32, PURLIN_REDUCTION_NVLS_REQUIRED);
  product.op = PURLIN_PROD;
  const Told required = run_sum(preferred, product);
  CHECK(required.status == PURLIN_UNSUPPORTED);
  CHECK_MESSAGE(holds(required.text, "Atom testswitch does not reduce u32 with prod"), required.text);
}

TEST_CASE("each off-switch wins over policy and call, with one line of log, or an error") {
  const NoOffSwitches none;
  for (const auto& [name, off] : kOffSwitches) {
    setenv(name, off, 1);
    const std::string said = fmt::format("{}={}", name, off);
    {
      CaughtErrors log;
      const Ranks ranks(3, switch_policy("nvls"));
      REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
      const Told told = run_sum(ranks, sum_call(PURLIN_U32, PURLIN_REDUCTION_NVLS));
      CHECK(told.exact);
      CHECK_FALSE(told.switched);
      CHECK_MESSAGE(holds(log.text(), said), log.text());
      CHECK(lines(log.text()) == 1);
      const Told required = run_sum(ranks, sum_call(PURLIN_U32, PURLIN_REDUCTION_NVLS_REQUIRED));
      CHECK(required.status == PURLIN_UNSUPPORTED);
      CHECK_MESSAGE(holds(required.text, said), required.text);
    }
    const Ranks strict(2, switch_policy("nvls-required"));
    REQUIRE_MESSAGE(strict.creation_error().empty(), strict.creation_error());
    const Told told = run_sum(strict, sum_call(PURLIN_U32, PURLIN_REDUCTION_POLICY));
    CHECK(told.status == PURLIN_UNSUPPORTED);
    CHECK_MESSAGE(holds(told.text, said), told.text);
    unsetenv(name);
  }
}

TEST_CASE("one rank that cannot have the switch is every rank's verdict") {
  const NoOffSwitches none;
  CaughtErrors log;
  purlin_unique_id id;
  REQUIRE(purlin_get_unique_id(&id) == PURLIN_OK);
  const int n = 3;
  std::vector<std::string> wrong(n);
  std::vector<std::thread> threads;
  const SwitchUse before = switch_use();
  for (int r = 0; r < n; ++r) {
    threads.emplace_back([&, r] {
      std::string policy = switch_policy("nvls");
      if (r == 1) policy += "datapath: {deny: [testswitch]}\n";
      purlin_comm_options options = PURLIN_COMM_OPTIONS_INIT;
      options.nranks = n;
      options.rank = r;
      options.unique_id = &id;
      options.device_kind = PURLIN_DEVICE_HOST;
      options.policy_text = policy.c_str();
      options.timeout_ms = 30'000;
      options.name = "uneven";
      purlin_comm_t comm = nullptr;
      std::vector<uint32_t> in(100, 1), out(100);
      if (purlin_comm_create(&comm, &options) != PURLIN_OK ||
          purlin_all_reduce(in.data(), out.data(), 100, PURLIN_U32, PURLIN_SUM, comm, nullptr) !=
              PURLIN_OK)
        wrong[static_cast<size_t>(r)] = purlin_last_error();
      else if (out != std::vector<uint32_t>(100, n)) wrong[static_cast<size_t>(r)] = "wrong sum";
      purlin_comm_destroy(comm);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& one : wrong) CHECK(one == "");
  CHECK(switch_use() == before);
  CHECK(lines(log.text()) == 1);
  for (const char* part : {"uneven", "rank 1", "testswitch", "SCORE is used"})
    CHECK_MESSAGE(holds(log.text(), part), log.text());
}

namespace {

nlohmann::json explained(const std::string& policy, int collective, const char* device,
                         int reduction = PURLIN_REDUCTION_POLICY, int dtype = PURLIN_F32) {
  purlin_query query{};
  query.struct_size = sizeof query;
  query.policy_text = policy.c_str();
  query.device = device;
  query.collective = collective;
  query.dtype = dtype;
  query.nranks = 8;
  query.bytes = 1 << 20;
  query.reduction = reduction;
  char* text = nullptr;
  REQUIRE_MESSAGE(purlin_explain(&query, &text) == PURLIN_OK, purlin_last_error());
  const auto answer = nlohmann::json::parse(text);
  purlin_free_text(text);
  return answer;
}

nlohmann::json plugins_of(const std::string& policy) {
  purlin_query query{};
  query.struct_size = sizeof query;
  query.policy_text = policy.c_str();
  query.device = "host";
  char* text = nullptr;
  REQUIRE_MESSAGE(purlin_plugins(&query, &text) == PURLIN_OK, purlin_last_error());
  const auto answer = nlohmann::json::parse(text);
  purlin_free_text(text);
  return answer;
}

}  // namespace

TEST_CASE("explain and plugins say whether the switch is used, and who decided") {
  const NoOffSwitches none;
  const std::string policy = switch_policy("nvls");
  const auto used = explained(policy, PURLIN_ALL_REDUCE, "host");
  CHECK(used["path"] == "switch");
  CHECK(used["reduction"] == "nvls");
  CHECK(used["atom"]["name"] == "testswitch");
  CHECK(used["nvls"]["used"] == true);
  CHECK(used["plan"]["steps"].size() >= 3);
  CHECK_MESSAGE(holds(used["nvls"]["decided_by"], "reduction nvls, said by"), used.dump());
  CHECK_MESSAGE(holds(used["path_reason"], "NVLS, asked for by"), used.dump());
  CHECK_MESSAGE(holds(used["notes"].dump(), "bits may differ"), used.dump());

  const auto bytes = explained(policy, PURLIN_ALL_REDUCE, "host", PURLIN_REDUCTION_POLICY, PURLIN_U8);
  CHECK(bytes["nvls"]["used"] == false);
  CHECK_MESSAGE(holds(bytes["nvls"]["decided_by"], "does not reduce u8"), bytes.dump());
  CHECK(bytes["atom"]["name"] == "host");

  const auto score = explained(policy, PURLIN_ALL_REDUCE, "host", PURLIN_REDUCTION_SCORE);
  CHECK(score["reduction"] == "score");
  CHECK_MESSAGE(holds(score["nvls"]["decided_by"], "purlin_call::reduction"), score.dump());

  CHECK(plugins_of(policy)["nvls"]["used"] == true);
  CHECK(plugins_of(policy)["chosen"]["name"] == "host");
  CHECK(plugins_of(switch_policy("score"))["nvls"]["used"] == false);
  for (const auto& [name, off] : kOffSwitches) {
    setenv(name, off, 1);
    const std::string said = fmt::format("{}={}", name, off);
    const auto answer = explained(policy, PURLIN_ALL_REDUCE, "host");
    CHECK(answer["path"] != "switch");
    CHECK(answer["nvls"]["allowed"] == false);
    CHECK(answer["nvls"]["decided_by"] == said);
    CHECK(plugins_of(policy)["nvls"]["decided_by"] == said);
    CHECK_MESSAGE(holds(answer["notes"].dump(), said), answer.dump());
    unsetenv(name);
  }
}

TEST_CASE("explain tells of a device that is not there") {
  const NoOffSwitches none;
  const std::string policy = "version: 1\nreduction: nvls\n";
  purlin_query query{};
  query.struct_size = sizeof query;
  query.policy_text = policy.c_str();
  query.device = "sm_90";
  char* text = nullptr;
  REQUIRE(purlin_plugins(&query, &text) == PURLIN_OK);
  const auto plugins = nlohmann::json::parse(text);
  purlin_free_text(text);
  if (plugins["chosen"].is_null()) {
    skip("built without a CUDA toolkit: there are no Atoms for GPUs");
    return;
  }
  CHECK(plugins["chosen"]["name"] == "hopper");
  CHECK(plugins["nvls"]["used"] == true);
  const auto hopper = explained(policy, PURLIN_ALL_REDUCE, "sm_90");
  CHECK(hopper["path"] == "switch");
  CHECK(hopper["atom"]["name"] == "nvls");
  CHECK(explained(policy, PURLIN_ALL_REDUCE, "sm_100")["atom"]["name"] == "nvls-blackwell");
  CHECK(explained(policy, PURLIN_ALL_REDUCE, "sm_100", PURLIN_REDUCTION_POLICY,
                  PURLIN_F8E4M3)["path"] == "switch");
  CHECK(explained(policy, PURLIN_ALL_REDUCE, "sm_90", PURLIN_REDUCTION_POLICY,
                  PURLIN_F8E4M3)["atom"]["name"] == "hopper");
  const auto ampere = explained(policy, PURLIN_ALL_REDUCE, "sm_80");
  CHECK(ampere["path"] == "throughput");
  CHECK(ampere["nvls"]["used"] == false);
  const auto gathered = explained(policy, PURLIN_ALL_GATHER, "sm_90");
  CHECK(gathered["path"] != "switch");  // only where a row names it
}

TEST_CASE("one rank alone, and a policy whose Atoms are named, have no switch and say so") {
  const NoOffSwitches none;
  const auto told = [](int n, const std::string& policy) {
    const Ranks ranks(n, policy);
    REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
    return run_sum(ranks, sum_call(PURLIN_U32, PURLIN_REDUCTION_POLICY));
  };
  const Told alone = told(1, switch_policy("nvls-required"));
  CHECK_MESSAGE(holds(alone.text, "one rank alone"), alone.text);
  const Told named = told(2, switch_policy("nvls-required") + "datapath: {prefer: [host]}\n");
  CHECK_MESSAGE(holds(named.text, "names others"), named.text);
  const Told both = told(2, switch_policy("nvls-required") + "datapath: {prefer: [host, testswitch]}\n");
  CHECK(both.switched);
  const Ranks only(2, switch_policy("nvls") + "datapath: {prefer: [testswitch]}\n");
  CHECK_MESSAGE(holds(only.creation_error(), "testswitch"), only.creation_error());
}
