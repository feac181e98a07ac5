// The product's Atoms on this machine's GPU, against every requirement that a GPU tries.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "level.h"
#include "tools/check/check.h"

namespace purlin::tools::check {
namespace {

// Checks run in processes of their own: nothing here may open the driver before them.
void check_atom(const char* name) {
  CheckOptions options;
  options.path = std::string(PURLIN_PRODUCT_FOLDER "/libatom-") + name + ".so";
  if (!std::filesystem::exists(options.path))
    return test::skip("no CUDA toolkit: the Atoms for GPUs are not built");
  options.seed = test::seed();
  options.full = test::is_full();
  options.limit_seconds = 30;
  const CheckReport report = check_plugin(options);
  const Finding& walk = report.findings[kWalk - 1];
  if (walk.state == State::kNotChecked) return test::skip(std::string(name) + ": " + walk.text);
  for (const Requirement& requirement : requirements()) {
    const Finding& found = report.findings[static_cast<size_t>(requirement.number - 1)];
    test::count_cases(found.cases);
    CHECK_MESSAGE(found.state != State::kFailed, name << ", requirement " << requirement.number
                                                      << " (" << requirement.name
                                                      << "): " << found.text);
  }
  CHECK(report.findings[kFuzz - 1].state == State::kPassed);
}

TEST_CASE("generic") { check_atom("generic"); }
TEST_CASE("ampere") { check_atom("ampere"); }
TEST_CASE("hopper") { check_atom("hopper"); }
TEST_CASE("blackwell") { check_atom("blackwell"); }
TEST_CASE("nvls") { check_atom("nvls"); }
TEST_CASE("nvls-blackwell") { check_atom("nvls-blackwell"); }

}  // namespace
}  // namespace purlin::tools::check
