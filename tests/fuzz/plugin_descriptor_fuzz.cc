// libFuzzer: no descriptor, however spoiled, is read outside the plugin's own memory.
#include <cstddef>
#include <cstdint>

#include "fuzz/plugin_descriptor_edits.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  purlin::test::judge_edited({data, size});
  return 0;
}
