#include "tools/prelink_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/json_text.h"
#include "tools/text_flow.h"

namespace purlin::tools {

std::string prelink_text(const nlohmann::json& answer, const std::string& folder) {
  std::vector<std::vector<std::string>> rows;
  uint64_t total = 0;
  for (const nlohmann::json& program : list_or_object(answer, "programs")) {
    uint64_t registers = 0;
    for (const nlohmann::json& kernel : list_or_object(program, "kernels"))
      registers = std::max(registers, number_at(kernel, "registers"));
    const uint64_t bytes = number_at(program, "cubin_bytes");
    total += bytes;
    rows.push_back({text_at(program, "name"), fmt::format("{} bytes", bytes),
                    fmt::format("{} registers", registers)});
  }
  return columns(rows, 2) +
         flow("",
              fmt::format("{} programs for {}, {} bytes, in {}. Use them with "
                          "PURLIN_PROGRAM_PATH={}",
                          rows.size(), text_at(answer, "device"), total, folder, folder),
              0);
}

}  // namespace purlin::tools
