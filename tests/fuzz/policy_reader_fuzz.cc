// libFuzzer: any bytes as a policy are refused, or make a policy that obeys the laws.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "runtime/policy/policy_laws.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string broken = purlin::policy::broken_law(text);
  if (broken.empty()) return 0;
  std::fprintf(stderr, "policy_reader: %s\n", broken.c_str());
  std::abort();
}
