// libFuzzer target: any bytes as a policy. Built with -DPURLIN_FUZZ=ON where clang++ is found; run
// as
//   policy_fuzz -max_total_time=60 tests/fuzz/policy_seeds
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "runtime/policy/policy_laws.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string broken = purlin::policy::broken_law(text);
  if (broken.empty()) return 0;
  std::fprintf(stderr, "policy_fuzz: %s\n", broken.c_str());
  std::abort();
}
