// purlin_prelink with the built plugins and a shipped policy; then a machine that has no linker.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/device_programs.h"
#include "level.h"
#include "link/programs.h"
#include "program/store.h"
#include "purlin/purlin.h"
#include "runtime/program/temporary_folder.h"

using namespace purlin;

namespace {

const char* const kPolicy = PURLIN_SOURCE_DIR "/config/h200.yaml";

purlin_prelink_options options_for(const std::string& folder) {
  purlin_prelink_options options{};
  options.struct_size = sizeof options;
  options.device = "sm_90";
  options.policy_path = kPolicy;
  options.output_directory = folder.c_str();
  options.ranks = 2;
  return options;
}

// The error's text; empty after success.
std::string refusal(const purlin_prelink_options& options, purlin_status expected) {
  char* json = nullptr;
  const purlin_status status = purlin_prelink(&options, &json);
  CHECK(status == expected);
  CHECK((json == nullptr) == (status != PURLIN_OK));
  purlin_free_text(json);
  return status == PURLIN_OK ? "" : purlin_last_error();
}

bool says(const std::string& text, const char* part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("all programs of a policy are prelinked, and serve a machine without a linker") {
  if (!have_device_code()) return;
  TemporaryFolder temporary;
  const std::string folder = temporary.at("deep/programs");
  auto options = options_for(folder);
  struct Told {
    int calls = 0, total = 0;
  } told;
  options.user = &told;
  options.progress = [](void* user, int done, int total, const char* program) {
    auto& t = *static_cast<Told*>(user);
    ++t.calls;
    t.total = total;
    CHECK(done == t.calls);
    CHECK((program != nullptr && program[0] != '\0'));
  };
  char* json = nullptr;
  REQUIRE_MESSAGE(purlin_prelink(&options, &json) == PURLIN_OK, purlin_last_error());
  const auto manifest = nlohmann::json::parse(json);
  purlin_free_text(json);
  const auto wanted = device_programs({"sm_90", kPolicy, 2});
  REQUIRE_MESSAGE(wanted.is_ok(), wanted.status().message());
  CHECK(wanted->atom == "hopper");
  CHECK(manifest["atom"] == "hopper");
  CHECK(manifest["device"] == "sm_90");
  CHECK(manifest["programs"].size() == wanted->requests.size());
  CHECK(told.calls == static_cast<int>(wanted->requests.size()));
  CHECK(told.total == told.calls);
  const auto any = [&](auto test) {
    return std::any_of(wanted->requests.begin(), wanted->requests.end(), test);
  };
  for (const char* start : {"latency-", "throughput-"}) {
    CHECK(any([&](const auto& r) {  // a copy
      return r.name.starts_with(start) && r.name.find("dtype") == std::string::npos;
    }));
    for (int dtype : {PURLIN_BF16, PURLIN_F16, PURLIN_F32}) {
      const std::string part = "dtype" + std::to_string(dtype) + "-op0";
      CHECK(any([&](const auto& r) {
        return r.name.starts_with(start) && r.name.find(part) != std::string::npos;
      }));
    }
  }

  ProgramSources bare;  // a driver and no toolkit
  bare.libraries.folders = {temporary.at("nowhere")};
  const auto lacking = ProgramStore(bare).get(wanted->requests.front());
  REQUIRE_FALSE(lacking.program.is_ok());
  CHECK(lacking.program.status().code() == PURLIN_LINK_ERROR);
  CHECK(says(lacking.program.status().message(), "install nvJitLink and NVRTC"));
  CHECK(says(lacking.program.status().message(), "purlin prelink --device sm_90"));
  bare.prelinked = {folder};
  for (const auto& outcome : ProgramStore(bare).get_all(wanted->requests)) {
    REQUIRE_MESSAGE(outcome.program.is_ok(), outcome.program.status().message());
    CHECK((*outcome.program)->origin == ProgramOrigin::kPrelinked);
    test::count_cases(1);
  }
}

TEST_CASE("without a number of ranks the programs are for 2 to 8") {
  if (!have_device_code()) return;
  const auto all = device_programs({"sm_90", kPolicy, 0});
  REQUIRE_MESSAGE(all.is_ok(), all.status().message());
  for (int n = 2; n <= 8; ++n) {
    const std::string part = "-n" + std::to_string(n) + "-";
    CHECK(std::count_if(all->requests.begin(), all->requests.end(), [&](const auto& r) {
            return r.name.find(part) != std::string::npos;
          }) > 10);
  }
}

TEST_CASE("what cannot be prelinked is refused, with what to ask for instead") {
  TemporaryFolder temporary;
  const std::string folder = temporary.at("programs");
  auto options = options_for(folder);
  options.device = "host";
  CHECK(says(refusal(options, PURLIN_INVALID_ARGUMENT), "host ranks need none"));
  options.device = "sm_9000";
  CHECK(says(refusal(options, PURLIN_INVALID_ARGUMENT), "sm_9000"));
  options.device = nullptr;
  CHECK(says(refusal(options, PURLIN_INVALID_ARGUMENT), "device is null"));
  options = options_for(folder);
  options.ranks = 17;
  CHECK(says(refusal(options, PURLIN_INVALID_ARGUMENT), "17 ranks"));
  options.ranks = 1;
  CHECK(says(refusal(options, PURLIN_INVALID_ARGUMENT), "2 to 16"));
  options = options_for(folder);
  options.jobs = -1;
  CHECK(says(refusal(options, PURLIN_INVALID_ARGUMENT), "jobs is -1"));
  options = options_for("");
  CHECK(says(refusal(options, PURLIN_INVALID_ARGUMENT), "output_directory"));
  options = options_for(folder);
  options.policy_path = "/nowhere/policy.yaml";
  CHECK(says(refusal(options, PURLIN_SYSTEM_ERROR), "/nowhere/policy.yaml"));
  options = options_for(folder);
  options.struct_size = 8;
  CHECK(says(refusal(options, PURLIN_INVALID_ARGUMENT), "struct_size"));
  char* json = nullptr;
  CHECK(purlin_prelink(nullptr, &json) == PURLIN_INVALID_ARGUMENT);
  CHECK(purlin_prelink(&options, nullptr) == PURLIN_INVALID_ARGUMENT);
}
