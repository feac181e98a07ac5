#include "rendezvous/launcher_environment.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <vector>

namespace purlin {
namespace {

// How one launcher spells things. The first variable of a list that is set counts.
struct Dialect {
  const char* launcher;
  const char* required;  // further variable without which the dialect does not apply, or nullptr
  const char* rank;
  std::vector<const char*> size;
  const char* local_rank;
  std::vector<const char*> local_size;
  std::vector<const char*> job;  // all that are set, joined
};

// Ordered from the innermost launcher to the outermost: mpirun inside a Slurm allocation counts,
// the allocation does not. A Slurm batch script has a SLURM_PROCID too, but is no step.
const std::vector<Dialect>& dialects() {
  static const std::vector<Dialect> all = {
      {"purlin run", nullptr, "PURLIN_RANK", {"PURLIN_NRANKS"}, "PURLIN_LOCAL_RANK", {}, {}},
      {"torchrun",
       nullptr,
       "RANK",
       {"WORLD_SIZE"},
       "LOCAL_RANK",
       {"LOCAL_WORLD_SIZE"},
       {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_ADDR", "MASTER_PORT"}},
      {"Open MPI",
       nullptr,
       "OMPI_COMM_WORLD_RANK",
       {"OMPI_COMM_WORLD_SIZE"},
       "OMPI_COMM_WORLD_LOCAL_RANK",
       {"OMPI_COMM_WORLD_LOCAL_SIZE"},
       {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}},
      {"PMI",
       nullptr,
       "PMI_RANK",
       {"PMI_SIZE"},
       "MPI_LOCALRANKID",
       {"MPI_LOCALNRANKS"},
       {"PMI_JOBID", "PMIX_NAMESPACE"}},
      {"Slurm",
       "SLURM_STEP_ID",
       "SLURM_PROCID",
       {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"},
       "SLURM_LOCALID",
       {},
       {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT"}},
  };
  return all;
}

std::optional<std::string> value_of(const EnvironmentLookup& lookup, const std::string& name) {
  auto value = lookup(name);
  if (value && value->empty()) value.reset();  // `RANK= command` means unset
  return value;
}

std::string joined(const std::vector<const char*>& names) {
  return fmt::format("{}", fmt::join(names, " or "));
}

class Reader {
 public:
  Reader(const Dialect& dialect, const EnvironmentLookup& lookup)
      : dialect_(dialect), lookup_(lookup) {}

  // The first variable of `names` that is set, as a number in [least, most].
  Result<std::optional<int>> number(const std::vector<const char*>& names, int least, int most) {
    for (const char* name : names) {
      const auto text = value_of(lookup_, name);
      if (!text) continue;
      int value = 0;
      const char* end = text->data() + text->size();
      const auto parsed = std::from_chars(text->data(), end, value);
      if (parsed.ec != std::errc() || parsed.ptr != end || value < least || value > most)
        return wrong(fmt::format("{}={} is no number from {} to {}", name, *text, least, most));
      return std::optional<int>(value);
    }
    return std::optional<int>();
  }

  Status wrong(const std::string& what) const {
    return {
        PURLIN_INVALID_USAGE,
        fmt::format("environment of {}: {}; start the ranks with purlin run, torchrun, mpirun or "
                    "srun, set PURLIN_RANK and PURLIN_NRANKS, or pass rank, nranks and a unique "
                    "id to the call",
                    dialect_.launcher, what)};
  }

  std::string job() const {
    if (const auto given = value_of(lookup_, "PURLIN_JOB_ID")) return *given;
    std::string all;
    for (const char* name : dialect_.job)
      if (const auto text = value_of(lookup_, name)) all += fmt::format("{}={};", name, *text);
    return all;
  }

 private:
  const Dialect& dialect_;
  const EnvironmentLookup& lookup_;
};

constexpr int kMostProcesses = 1 << 24;

Result<std::optional<LauncherEnvironment>> read(const Dialect& dialect,
                                                const EnvironmentLookup& lookup) {
  Reader reader(dialect, lookup);
  auto size = reader.number(dialect.size, 1, kMostProcesses);
  if (!size) return size.status();
  auto rank = reader.number({dialect.rank}, 0, kMostProcesses);
  if (!rank) return rank.status();
  if (!*size && !*rank) return std::optional<LauncherEnvironment>();
  if (!*size)
    return reader.wrong(fmt::format("{} is set but {} is not", dialect.rank, joined(dialect.size)));
  if (!*rank)
    return reader.wrong(fmt::format("{} is set but {} is not", joined(dialect.size), dialect.rank));
  if (**rank >= **size)
    return reader.wrong(fmt::format("{}={} is not below {}={}", dialect.rank, **rank,
                                    joined(dialect.size), **size));
  auto local_rank = reader.number({dialect.local_rank}, 0, kMostProcesses);
  if (!local_rank) return local_rank.status();
  auto local_size = reader.number(dialect.local_size, 1, kMostProcesses);
  if (!local_size) return local_size.status();
  if (*local_size && **local_size > **size)
    return reader.wrong(fmt::format("{}={} is above {}={}", joined(dialect.local_size),
                                    **local_size, joined(dialect.size), **size));

  LauncherEnvironment found;
  found.source = fmt::format("{} ({}, {})", dialect.launcher, dialect.rank, joined(dialect.size));
  found.rank = **rank;
  found.nranks = **size;
  found.local_rank = local_rank->value_or(found.rank);
  found.local_size = local_size->value_or(0);
  found.job = reader.job();
  if (found.local_size != 0 && found.local_size < found.nranks)
    return Status(
        PURLIN_UNSUPPORTED,
        fmt::format("environment of {}: {} of {} ranks are on this machine; a communicator "
                    "lies within one machine: pass rank, nranks and a unique id of the "
                    "ranks of this machine to the call",
                    dialect.launcher, found.local_size, found.nranks));
  return std::optional<LauncherEnvironment>(std::move(found));
}

}  // namespace

std::optional<std::string> process_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

Result<std::optional<LauncherEnvironment>> detect_launcher(const EnvironmentLookup& lookup) {
  for (const Dialect& dialect : dialects()) {
    if (dialect.required && !value_of(lookup, dialect.required)) continue;
    auto found = read(dialect, lookup);
    if (!found) return found;
    if (!*found) continue;
    const auto hex = value_of(lookup, "PURLIN_UNIQUE_ID");
    if (hex && &dialect == &dialects().front()) {
      const auto bytes = unique_id_from_hex(*hex);
      if (!bytes) return bytes.status().with_context("PURLIN_UNIQUE_ID");
      auto id = decode(bytes.value());
      if (!id) return id.status().with_context("PURLIN_UNIQUE_ID");
      (*found)->unique_id = id.value();
    }
    return found;
  }
  if (value_of(lookup, "PURLIN_UNIQUE_ID"))
    return Status(PURLIN_INVALID_USAGE,
                  "environment: PURLIN_UNIQUE_ID is set but PURLIN_RANK and PURLIN_NRANKS are not; "
                  "set both, or start the ranks with purlin run");
  return std::optional<LauncherEnvironment>();
}

}  // namespace purlin
