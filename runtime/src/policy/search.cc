#include "policy/search.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "policy/match.h"
#include "policy/reader.h"
#include "policy/search_folders.h"

namespace purlin::policy {
namespace {

constexpr const char* kVariable = "PURLIN_POLICY";

// A candidate that was chosen, with its text.
struct Winner {
  size_t candidate;  // index into the trace
  std::string text;
  int specificity;
};

// The state of one search.
class Search {
 public:
  explicit Search(const purlin_device_facts& device) : device_(device) {}

  // Looks at one file. Whatever matches is kept; `rule` tells why the file was looked at.
  Status look(const std::string& path, const std::string& rule, std::optional<Winner>& best) {
    auto text = read_text(path);
    if (!text) return failed(text.status());
    auto match = read_match(*text, path);
    if (!match) return failed(match.status());
    const std::string reason = mismatch(*match, device_);
    trace.push_back({path, rule, reason.empty() ? Verdict::kOutranked : Verdict::kNoMatch, reason});
    if (!reason.empty()) return Status::ok();
    Winner candidate{trace.size() - 1, std::move(*text), specificity(*match)};
    if (!best) {
      best = std::move(candidate);
    } else if (candidate.specificity > best->specificity) {
      trace[best->candidate].reason = fmt::format("{} is more specific", path);
      best = std::move(candidate);
    } else {
      trace.back().reason = fmt::format("{} is {}", trace[best->candidate].path,
                                        candidate.specificity < best->specificity
                                            ? "more specific"
                                            : "equally specific and comes first by name");
    }
    return Status::ok();
  }

  Status look_in_folder(const std::string& folder, const std::string& rule,
                        std::optional<Winner>& best) {
    std::string absent;
    const auto files = policies_in(folder, absent);
    if (files.empty())
      trace.push_back(
          {folder, rule, Verdict::kAbsent, absent.empty() ? "holds no policy" : absent});
    for (const std::string& file : files) PURLIN_RETURN_IF_ERROR(look(file, rule, best));
    return Status::ok();
  }

  Status failed(const Status& status) const {
    if (trace.empty()) return status;
    return Status(status.code(), status.message() + "\nlooked at before:\n" + trace_text(trace));
  }

  std::vector<Candidate> trace;

 private:
  const purlin_device_facts& device_;
};

Result<Policy> given(const Request& request, const purlin_device_facts& device,
                     std::vector<Candidate>& trace) {
  const std::string name = request.path ? *request.path : "<text>";
  std::string text;
  if (request.path) {
    auto read = read_text(name);
    if (!read) return read.status();
    text = std::move(*read);
  } else {
    text = *request.text;
  }
  auto policy = read_policy(text, name, kind_of(device));
  if (!policy) return policy;
  const std::string reason = mismatch(policy->match, device);
  trace.push_back({name, "argument", Verdict::kChosen,
                   reason.empty() ? "" : "used because it was given, although " + reason});
  return policy;
}

// The places in order; the first that yields a winner ends the search, the rest are listed.
Result<Policy> sought(const Request& request, const purlin_device_facts& device, Search& search) {
  std::vector<SearchFolder> places;
  if (const auto named = request.environment(kVariable); named && !named->empty())
    places.push_back({*named, kVariable, ""});
  if (request.folders)
    for (const std::string& folder : *request.folders) places.push_back({folder, "folder", ""});
  else
    for (SearchFolder& folder : search_folders(request.environment))
      places.push_back(std::move(folder));

  std::optional<Winner> winner;
  for (const SearchFolder& place : places) {
    if (!place.missing.empty()) {
      search.trace.push_back({place.path, place.rule, Verdict::kIgnored, place.missing});
      continue;
    }
    if (winner) {
      search.trace.push_back({place.path, place.rule, Verdict::kIgnored,
                              "an earlier place holds a policy that matches"});
      continue;
    }
    std::error_code error;
    if (place.rule == kVariable && !std::filesystem::is_directory(place.path, error)) {
      const Status looked = search.look(place.path, place.rule, winner);
      if (looked.code() == PURLIN_SYSTEM_ERROR)
        return looked.with_context(fmt::format("environment variable {}", kVariable));
      PURLIN_RETURN_IF_ERROR(looked);
    } else {
      PURLIN_RETURN_IF_ERROR(search.look_in_folder(place.path, place.rule, winner));
    }
  }
  if (!winner) {
    search.trace.push_back({"built-in defaults", "nothing else matches", Verdict::kChosen, ""});
    return built_in_policy(kind_of(device));
  }
  Candidate& chosen = search.trace[winner->candidate];
  chosen.verdict = Verdict::kChosen;
  chosen.reason.clear();
  return read_policy(winner->text, chosen.path, kind_of(device));
}

}  // namespace

const char* verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kChosen:
      return "chosen";
    case Verdict::kOutranked:
      return "outranked";
    case Verdict::kNoMatch:
      return "no match";
    case Verdict::kAbsent:
      return "absent";
    case Verdict::kIgnored:
      return "ignored";
  }
  return "";
}

std::string trace_text(const std::vector<Candidate>& trace) {
  std::string text;
  for (const Candidate& candidate : trace)
    text += fmt::format("  {:<9}  {} ({}){}{}\n", verdict_text(candidate.verdict), candidate.path,
                        candidate.rule, candidate.reason.empty() ? "" : ": ", candidate.reason);
  return text;
}

Request request_of(const char* path, const char* text) {
  Request request;
  if (path != nullptr) request.path = path;
  if (text != nullptr) request.text = text;
  return request;
}

Result<Found> find_policy(const purlin_device_facts& device, const Request& request) {
  if (request.path && request.text)
    return Status(PURLIN_INVALID_ARGUMENT,
                  "both a policy path and a policy text are given; give one of them");
  Search search(device);
  auto policy = request.path || request.text ? given(request, device, search.trace)
                                             : sought(request, device, search);
  if (!policy) return policy.status();
  Found found{std::move(*policy), std::move(search.trace)};
  PURLIN_RETURN_IF_ERROR(apply_environment(found.policy, request.environment));
  return found;
}

}  // namespace purlin::policy
