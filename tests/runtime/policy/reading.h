// Short forms for tests that read policies from text.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "policy/reader.h"

namespace purlin::policy::testing {

// "version: 1" in front of `body`, read for a host; a failure ends the test case with its text.
inline Policy must_read(const std::string& body, purlin_device_kind kind = PURLIN_DEVICE_HOST) {
  auto policy = read_policy("version: 1\n" + body, "p.yaml", kind);
  REQUIRE_MESSAGE(policy.is_ok(), policy.status().message());
  return std::move(*policy);
}

// The error of `body` (its first line is line 2 of p.yaml), or "" if there is none.
inline std::string error_of(const std::string& body, purlin_device_kind kind = PURLIN_DEVICE_HOST) {
  const auto policy = read_policy("version: 1\n" + body, "p.yaml", kind);
  if (policy.is_ok()) return "";
  CHECK(policy.status().code() == PURLIN_POLICY_ERROR);
  return policy.status().message();
}

inline bool starts_with(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}
inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace purlin::policy::testing
