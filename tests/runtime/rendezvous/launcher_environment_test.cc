#include "rendezvous/launcher_environment.h"

#include <doctest/doctest.h>

#include <map>

namespace {

using Variables = std::map<std::string, std::string>;

purlin::Result<std::optional<purlin::LauncherEnvironment>> detect(const Variables& variables) {
  return purlin::detect_launcher([&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

purlin::LauncherEnvironment found(const Variables& variables) {
  auto result = detect(variables);
  REQUIRE_MESSAGE(result.is_ok(), result.status().message());
  REQUIRE(result->has_value());
  return **result;
}

// The error text must hold each of `parts`.
void check_refused(const Variables& variables, purlin_status code,
                   const std::vector<std::string>& parts) {
  const auto result = detect(variables);
  REQUIRE_FALSE(result.is_ok());
  CHECK(result.status().code() == code);
  for (const auto& part : parts)
    CHECK_MESSAGE(result.status().message().find(part) != std::string::npos,
                  result.status().message() << " lacks " << part);
}

}  // namespace

TEST_CASE("no launcher") {
  const auto none = detect({{"PATH", "/bin"}, {"RANK", ""}});
  REQUIRE(none.is_ok());
  CHECK_FALSE(none->has_value());
}

TEST_CASE("purlin run: the id travels in the environment and wins over RANK") {
  purlin_unique_id id;
  REQUIRE(purlin_get_unique_id(&id) == PURLIN_OK);
  const auto e = found({{"PURLIN_UNIQUE_ID", purlin::to_hex(id)},
                        {"PURLIN_RANK", "3"},
                        {"PURLIN_NRANKS", "4"},
                        {"RANK", "0"},
                        {"WORLD_SIZE", "1"}});
  CHECK(e.rank == 3);
  CHECK(e.nranks == 4);
  CHECK(e.local_rank == 3);
  REQUIRE(e.unique_id.has_value());
  CHECK(e.unique_id->token == purlin::decode(id)->token);
}

TEST_CASE("plain variables set by hand") {
  const auto e = found({{"PURLIN_RANK", "0"}, {"PURLIN_NRANKS", "1"}, {"PURLIN_JOB_ID", "mine"}});
  CHECK(e.job == "mine");
  CHECK_FALSE(e.unique_id.has_value());
  CHECK(found({{"RANK", "1"}, {"WORLD_SIZE", "2"}}).rank == 1);
}

TEST_CASE("torchrun: a restart is another job") {
  Variables v{{"RANK", "5"},
              {"WORLD_SIZE", "8"},
              {"LOCAL_RANK", "5"},
              {"LOCAL_WORLD_SIZE", "8"},
              {"MASTER_PORT", "29500"},
              {"TORCHELASTIC_RESTART_COUNT", "0"}};
  const auto first = found(v);
  CHECK(first.rank == 5);
  CHECK(first.local_rank == 5);
  CHECK(first.local_size == 8);
  v.insert_or_assign("TORCHELASTIC_RESTART_COUNT", std::string("1"));
  CHECK(found(v).job != first.job);
}

TEST_CASE("Open MPI inside a Slurm allocation: the inner launcher counts") {
  const auto e = found({{"OMPI_COMM_WORLD_RANK", "2"},
                        {"OMPI_COMM_WORLD_SIZE", "4"},
                        {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
                        {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                        {"PMIX_NAMESPACE", "n1"},
                        {"SLURM_PROCID", "0"},
                        {"SLURM_NTASKS", "1"},
                        {"SLURM_STEP_ID", "0"}});
  CHECK(e.rank == 2);
  CHECK(e.source.find("Open MPI") == 0);
}

TEST_CASE("PMI and Slurm steps, but a Slurm batch script is no step") {
  CHECK(found({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}}).local_rank == 1);
  const Variables step{{"SLURM_PROCID", "3"},         {"SLURM_NTASKS", "9"},
                       {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_STEP_ID", "0"},
                       {"SLURM_JOB_ID", "77"},        {"SLURM_LOCALID", "3"}};
  const auto e = found(step);
  CHECK(e.nranks == 4);
  CHECK(e.job.find("77") != std::string::npos);
  Variables batch = step;
  batch.erase("SLURM_STEP_ID");
  const auto none = detect(batch);
  REQUIRE(none.is_ok());
  CHECK_FALSE(none->has_value());
}

TEST_CASE("incomplete and contradictory sets are errors that name the variables") {
  check_refused({{"RANK", "1"}}, PURLIN_INVALID_USAGE, {"RANK is set", "WORLD_SIZE", "purlin run"});
  check_refused({{"WORLD_SIZE", "2"}}, PURLIN_INVALID_USAGE, {"WORLD_SIZE is set", "RANK is not"});
  check_refused({{"PURLIN_RANK", "1"}}, PURLIN_INVALID_USAGE, {"PURLIN_NRANKS"});
  check_refused({{"RANK", "2"}, {"WORLD_SIZE", "2"}}, PURLIN_INVALID_USAGE, {"RANK=2", "below"});
  for (const char* bad : {"x", "-1", "1x", " 1", "99999999999999999999", "1.0"})
    check_refused({{"RANK", bad}, {"WORLD_SIZE", "2"}}, PURLIN_INVALID_USAGE, {"RANK=", bad});
  check_refused({{"RANK", "0"}, {"WORLD_SIZE", "0"}}, PURLIN_INVALID_USAGE, {"WORLD_SIZE=0"});
  check_refused({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_WORLD_SIZE", "4"}},
                PURLIN_INVALID_USAGE, {"LOCAL_WORLD_SIZE=4"});
  check_refused({{"PURLIN_UNIQUE_ID", "ab"}}, PURLIN_INVALID_USAGE, {"PURLIN_RANK"});
  check_refused({{"PURLIN_UNIQUE_ID", "ab"}, {"PURLIN_RANK", "0"}, {"PURLIN_NRANKS", "1"}},
                PURLIN_INVALID_ARGUMENT, {"PURLIN_UNIQUE_ID", "2 characters"});
}

TEST_CASE("a job over several machines is refused with what to do") {
  check_refused({{"RANK", "9"}, {"WORLD_SIZE", "16"}, {"LOCAL_WORLD_SIZE", "8"}},
                PURLIN_UNSUPPORTED, {"8 of 16", "one machine"});
}
