// libFuzzer target: any bytes as a policy. Built with -DPURLIN_FUZZ=ON where clang++ is found; run:
//   build/dev/tests/fuzz/bin/policy_reader -max_total_time=60 CORPUS tests/fuzz/policy_reader_seeds
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
