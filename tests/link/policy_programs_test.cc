// Every program that the calls of a shipped policy need can be made for its device.
#include "communicator/policy_programs.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "level.h"
#include "link/programs.h"
#include "policy/capacity.h"
#include "policy/match.h"
#include "policy/search.h"
#include "program/store.h"

using namespace purlin;

namespace {

policy::Found shipped(const std::string& file, const purlin_device_facts& facts) {
  policy::Request request;
  request.path = PURLIN_SOURCE_DIR "/config/" + file;
  auto found = policy::find_policy(facts, request);
  REQUIRE_MESSAGE(found.is_ok(), found.status().message());
  return *std::move(found);
}

void check_policy(const std::string& file, const std::string& device, const std::string& atom_name,
                  int nranks) {
  const auto facts = policy::device_facts_of(device);
  REQUIRE(facts.is_ok());
  const policy::Found found = shipped(file, *facts);
  const policy::ChoiceTable choices(found.policy, nranks,
                                    std::vector<std::string>(PURLIN_COLLECTIVE_COUNT, "no switch"));
  const BuiltAtom& atom = built_atom(atom_name);
  const auto needs = programs_of(found.policy, choices, *atom.descriptor->limits, nranks);
  CHECK(needs.size() > 10);
  CHECK(std::set<ProgramNeed>(needs.begin(), needs.end()).size() == needs.size());
  std::vector<ProgramRequest> requests;
  for (const ProgramNeed& need : needs) {
    CHECK_FALSE(need < need.normalized());
    auto made = protocol_request(need.kernel, need.constants,
                                 facts->cc_major * 10 + facts->cc_minor, atom.images);
    REQUIRE_MESSAGE(made.is_ok(), made.status().message());
    requests.push_back(*std::move(made));
  }
  if (!test::is_full()) {
    std::mt19937_64 random(test::seed());
    std::shuffle(requests.begin(), requests.end(), random);
    requests.resize(4);
  }
  for (const ProgramOutcome& outcome : process_store().get_all(requests))
    CHECK_MESSAGE(outcome.program.is_ok(), outcome.program.status().message());
  test::count_cases(requests.size());
  MESSAGE(file, ", ", device, ", ", atom_name, ", ", nranks, " ranks: ", requests.size(),
          " programs");
}

}  // namespace

TEST_CASE("every shipped policy is within the limits of the Atom that it prefers") {
  if (!have_device_code()) return;
  const struct {
    const char* file;
    const char* device;
    const char* atom;
  } bindings[] = {{"h200.yaml", "sm_90", "hopper"},
                  {"a100.yaml", "sm_80", "ampere"},
                  {"b200.yaml", "sm_100", "blackwell"},
                  {"b200.yaml", "sm_103", "blackwell"},
                  {"default-gpu.yaml", "sm_75", "generic"}};
  for (const auto& one : bindings) {
    const auto facts = policy::device_facts_of(one.device);
    REQUIRE(facts.is_ok());
    const policy::Found found = shipped(one.file, *facts);
    policy::Bound bound;
    bound.limits = built_atom(one.atom).descriptor->limits;
    bound.atom = one.atom;
    bound.cuda = true;
    bound.shared_bytes_per_block = facts->shared_bytes_per_block;
    bound.memory_bytes = facts->memory_bytes;
    for (int nranks = 1; nranks <= 16; ++nranks) {
      const Status fits = policy::check_against(found.policy, bound, nranks);
      CHECK_MESSAGE(fits.is_ok(), nranks, " ranks, ", one.atom, ": ", fits.message());
      test::count_cases(1);
    }
  }
}

TEST_CASE("all programs of the shipped policies can be made") {
  if (!have_device_code()) return;
  if (!test::is_full()) {
    // Those of h200.yaml are made by the test of purlin_prelink.
    switch (test::seed() % 3) {
      case 0:
        return check_policy("a100.yaml", "sm_80", "ampere", 2);
      case 1:
        return check_policy("b200.yaml", "sm_100", "blackwell", 2);
      default:
        return check_policy("default-gpu.yaml", "sm_75", "generic", 2);
    }
  }
  for (int nranks : {2, 3, 5, 8}) {
    check_policy("h200.yaml", "sm_90", "hopper", nranks);
    check_policy("h200.yaml", "sm_90", "generic", nranks);
    check_policy("a100.yaml", "sm_80", "ampere", nranks);
    check_policy("b200.yaml", "sm_100", "blackwell", nranks);
    check_policy("default-gpu.yaml", "sm_75", "generic", nranks);
  }
}
