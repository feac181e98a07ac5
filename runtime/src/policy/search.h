// Finding the policy for a device, and the trace of where it was sought.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/overrides.h"
#include "policy/policy.h"
#include "purlin/atom_abi.h"
#include "status/status.h"

namespace purlin::policy {

enum class Verdict {
  kChosen,     // this one is used
  kOutranked,  // it matches, but one of an earlier place or a more specific one is used
  kNoMatch,    // it is for other devices
  kAbsent,     // not there, or a folder without a policy
  kIgnored     // not looked at; `reason` says why
};
const char* verdict_text(
    Verdict verdict);  // "chosen", "outranked", "no match", "absent", "ignored"

struct Candidate {
  std::string path;  // file or folder; "<text>", "built-in defaults"
  std::string rule;  // why it was looked at: "argument", "PURLIN_POLICY", "user's folder" …
  Verdict verdict = Verdict::kAbsent;
  std::string reason;
};

struct Request {
  // At most one of the two: a policy given by the caller. Neither: search.
  std::optional<std::string> path;
  std::optional<std::string> text;
  Environment environment = process_environment();
  // For tests: replaces the user's, the system's and the install's folders.
  std::optional<std::vector<std::string>> folders;
};

// A caller's two texts, of which null says nothing.
Request request_of(const char* path, const char* text);

struct Found {
  Policy policy;                 // with the environment's overrides
  std::vector<Candidate> trace;  // every place, in the order of precedence
};

// Searches as docs/policy.md says, reads the chosen policy and applies the environment. Errors:
// PURLIN_SYSTEM_ERROR for a named file that cannot be read, PURLIN_POLICY_ERROR for a fault in it
// or in the environment, PURLIN_INVALID_ARGUMENT for both path and text; the text ends with the
// trace where one exists. Thread-safe as long as nobody changes the environment meanwhile.
Result<Found> find_policy(const purlin_device_facts& device, const Request& request);

// A line for each candidate: "  no match   /etc/purlin/a100.yaml (system's folder): it is for …".
std::string trace_text(const std::vector<Candidate>& trace);

}  // namespace purlin::policy
