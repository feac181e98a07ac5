// Finding the policy for a device, and the trace of where it was sought.
#pragma once

#include <string>
#include <vector>

#include "policy/policy.h"
#include "purlin/atom_abi.h"
#include "status/status.h"

namespace purlin::policy {

enum class Verdict {
  kChosen,      // this one is used
  kOutranked,   // it matches, but one nearer to the top or more specific is used
  kNoMatch,     // it is for other devices
  kUnreadable,  // it cannot be read; fatal where it was named
  kAbsent,      // a folder that is not there, or holds no policy
  kIgnored      // not looked at; `reason` says why
};

struct Candidate {
  std::string path;  // file or folder; "<text>", "built-in defaults"
  std::string rule;  // why it was looked at: "argument", "PURLIN_POLICY", "user's folder" …
  Verdict verdict = Verdict::kAbsent;
  std::string reason;
};

struct Found {
  Policy policy;
  std::vector<Candidate> trace;  // in the order in which they were looked at
};

// Where to look. Empty path and text: search. At most one of the two may be set.
struct Request {
  std::string path;
  std::string text;
};

// Reads the chosen file and applies the environment's overrides. Errors name the file: one that was
// given or named must be readable and right; in a searched folder only a file that matches must be.
// Reads the environment and files; thread-safe as long as nobody calls setenv meanwhile.
Result<Found> find_policy(const purlin_device_facts& device, const Request& request);

// The facts of a device that is not there: "host", "sm_90". Sizes are those of the usual product.
Result<purlin_device_facts> device_facts_of(const std::string& device);

// Reads a policy's text; `file` is its name in messages. Values that the text leaves out are those
// of built_in_policy(kind). Errors: PURLIN_POLICY_ERROR "FILE:LINE:COLUMN: …".
Result<Policy> read_policy(const std::string& text, const std::string& file,
                           purlin_device_kind kind);
// The same from a file of at most 1 MiB. PURLIN_SYSTEM_ERROR where it cannot be read.
Result<Policy> read_policy_file(const std::string& path, purlin_device_kind kind);

}  // namespace purlin::policy
