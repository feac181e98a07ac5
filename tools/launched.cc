#include "tools/launched.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>

namespace purlin::tools {
namespace {

struct Dialect {
  const char* launcher;
  const char* rank;
  std::array<const char*, 2> sizes;  // the first that is set counts
  const char* required;              // must be set too, or nullptr
};

// From the innermost launcher to the outermost.
constexpr std::array<Dialect, 5> kDialects = {{
    {"purlin run", "PURLIN_RANK", {"PURLIN_NRANKS", nullptr}, nullptr},
    {"torchrun", "RANK", {"WORLD_SIZE", nullptr}, nullptr},
    {"mpirun", "OMPI_COMM_WORLD_RANK", {"OMPI_COMM_WORLD_SIZE", nullptr}, nullptr},
    {"PMI", "PMI_RANK", {"PMI_SIZE", nullptr}, nullptr},
    {"srun", "SLURM_PROCID", {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}, "SLURM_STEP_ID"},
}};

Outcome<int> number(const char* name, const std::string& text) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, fault] = std::from_chars(text.data(), end, value);
  if (fault != std::errc{} || rest != end || value < 0)
    return Error{
        fmt::format("the launcher's variable {} is \"{}\", which is no whole number; unset "
                    "it or start the ranks with `purlin run`",
                    name, text)};
  return value;
}

}  // namespace

std::optional<std::string> process_environment(const char* name) {
  const char* value = std::getenv(name);
  if (!value || !*value) return std::nullopt;
  return value;
}

Outcome<std::optional<Launched>> find_launcher(const Environment& environment) {
  for (const Dialect& dialect : kDialects) {
    if (dialect.required && !environment(dialect.required)) continue;
    const auto rank_text = environment(dialect.rank);
    const char* size_name = dialect.sizes[0];
    auto size_text = environment(size_name);
    if (!size_text && dialect.sizes[1]) size_text = environment(size_name = dialect.sizes[1]);
    if (!rank_text && !size_text) continue;
    if (!rank_text || !size_text)
      return Error{fmt::format(
          "the launcher's variable {} is set but {} is not; set both, or start "
          "the ranks with `purlin run`",
          rank_text ? dialect.rank : size_name, rank_text ? dialect.sizes[0] : dialect.rank)};
    const auto rank = number(dialect.rank, *rank_text);
    if (!rank) return Error{rank.error()};
    const auto size = number(size_name, *size_text);
    if (!size) return Error{size.error()};
    return std::optional<Launched>(Launched{dialect.launcher, *rank, *size});
  }
  return std::optional<Launched>();
}

}  // namespace purlin::tools
