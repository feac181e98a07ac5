// The report for people and for scripts.
#include <fmt/format.h>

#include <filesystem>

#include "tools/check/check.h"
#include "tools/json_text.h"
#include "tools/text_flow.h"

namespace purlin::tools::check {
namespace {

using nlohmann::json;

const char* state_name(State state) {
  switch (state) {
    case State::kPassed:
      return "passed";
    case State::kFailed:
      return "failed";
    case State::kNotChecked:
      return "not checked";
    case State::kNotApplicable:
      return "not applicable";
  }
  return "";
}

std::string line_of(const Requirement& requirement, const Finding& finding) {
  const std::string first =
      fmt::format("{:>3}  {:<13}", static_cast<int>(requirement.number), requirement.name);
  switch (finding.state) {
    case State::kPassed:
      return flow(first + "passed  ", requirement.demands, 26);
    case State::kFailed:
      return flow(first + "FAILED  ",
                  fmt::format("{}. Found: {}", requirement.demands, finding.text), 26);
    case State::kNotChecked:
      return flow(first + "-       ", "not checked: " + finding.text, 26);
    case State::kNotApplicable:
      return flow(first + "-       ", "not applicable: " + finding.text, 26);
  }
  return "";
}

}  // namespace

json check_json(const CheckReport& report) {
  json rows = json::array();
  for (const Requirement& requirement : requirements()) {
    const Finding& finding = report.findings[static_cast<size_t>(requirement.number - 1)];
    rows.push_back({{"number", static_cast<int>(requirement.number)},
                    {"name", requirement.name},
                    {"demands", requirement.demands},
                    {"verdict", state_name(finding.state)},
                    {"found", finding.text},
                    {"cases", finding.cases}});
  }
  return {{"plugin", report.path},
          {"atom", report.atom},
          {"seed", report.seed},
          {"level", report.full ? "full" : "quick"},
          {"requirements", std::move(rows)},
          {"passed", report.count(State::kPassed)},
          {"failed", report.count(State::kFailed)},
          {"not_checked", report.count(State::kNotChecked)},
          {"not_applicable", report.count(State::kNotApplicable)}};
}

std::string check_text(const CheckReport& report) {
  std::string text = report.path + "\n";
  if (!report.atom.is_null())
    text += flow(
        fmt::format("Atom {} {}: ", text_at(report.atom, "name"), text_at(report.atom, "version")),
        text_at(report.atom, "description"), 2);
  text += "\n";
  uint64_t cases = 0;
  for (const Requirement& requirement : requirements()) {
    const Finding& finding = report.findings[static_cast<size_t>(requirement.number - 1)];
    text += line_of(requirement, finding);
    cases += finding.cases;
  }
  const std::string sums =
      fmt::format("{} passed, {} failed, {} not checked, {} not applicable; {} cases, seed {}{}",
                  report.count(State::kPassed), report.count(State::kFailed),
                  report.count(State::kNotChecked), report.count(State::kNotApplicable), cases,
                  report.seed, report.full ? ", full" : "; --full tries many more");
  return text + "\n" + flow("", sums, 0);
}

}  // namespace purlin::tools::check
