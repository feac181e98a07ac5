// purlin_explain about a living communicator: its own policy, Atom and size, not those found by
// search.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "purlin/purlin.h"

TEST_CASE("a living communicator is asked about itself") {
  purlin_comm_options options = PURLIN_COMM_OPTIONS_INIT;
  options.policy_text = "version: 1\nname: of the test\ncrossover: {default: 12345}\n";
  purlin_comm_t comms[3];
  REQUIRE(purlin_comm_create_all(comms, 3, nullptr, &options) == PURLIN_OK);
  purlin_query query{};
  query.struct_size = sizeof query;
  query.comm = comms[1];
  query.device = "sm_90";  // not asked for, since the communicator has one
  query.nranks = 8;
  query.collective = PURLIN_ALL_GATHER;
  query.bytes = 3 << 20;
  char* text = nullptr;
  REQUIRE_MESSAGE(purlin_explain(&query, &text) == PURLIN_OK, purlin_last_error());
  const auto answer = nlohmann::json::parse(text);
  purlin_free_text(text);
  CHECK(answer["policy"]["file"] == "of the test");
  CHECK(answer["ranks"] == 3);
  CHECK(answer["device"] == "host");
  CHECK(answer["atom"]["name"] == "host");
  CHECK(answer["path_reason"].get<std::string>().find("12345") != std::string::npos);
  for (purlin_comm_t comm : comms) CHECK(purlin_comm_destroy(comm) == PURLIN_OK);
  CHECK(purlin_explain(&query, &text) == PURLIN_INVALID_ARGUMENT);
  CHECK(text == nullptr);
}

TEST_CASE("ranks that met without a token are told so") {
  const auto notes_of = [](purlin_comm_t comm) {
    purlin_query query{};
    query.struct_size = sizeof query;
    query.comm = comm;
    query.collective = PURLIN_ALL_REDUCE;
    query.bytes = 8;
    char* text = nullptr;
    REQUIRE_MESSAGE(purlin_explain(&query, &text) == PURLIN_OK, purlin_last_error());
    const std::string notes = nlohmann::json::parse(text)["notes"].dump();
    purlin_free_text(text);
    return notes;
  };
  const std::string job = "explained-" + std::to_string(::getpid());
  for (const auto& [name, value] :
       {std::pair{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"PURLIN_JOB_ID", job.c_str()}})
    ::setenv(name, value, 1);
  purlin_comm_options options = PURLIN_COMM_OPTIONS_INIT;
  options.device_kind = PURLIN_DEVICE_HOST;
  options.nranks = 0;  // as the launcher says
  purlin_comm_t met = nullptr;
  const purlin_status status = purlin_comm_create(&met, &options);
  for (const char* name : {"RANK", "WORLD_SIZE", "PURLIN_JOB_ID"}) ::unsetenv(name);
  REQUIRE_MESSAGE(status == PURLIN_OK, purlin_last_error());
  CHECK(notes_of(met).find("no token was used") != std::string::npos);
  purlin_comm_t alone = nullptr;
  REQUIRE(purlin_comm_create_all(&alone, 1, nullptr, &options) == PURLIN_OK);
  CHECK(notes_of(alone).find("token") == std::string::npos);
  for (purlin_comm_t comm : {met, alone}) CHECK(purlin_comm_destroy(comm) == PURLIN_OK);
}
