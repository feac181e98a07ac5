// One rank as a process of its own, over the public API alone. Usage:
//   communicator_rank ID-IN-HEX RANK NRANKS TIMEOUT-MS
// Driven by its test: reads commands from standard input, answers each with one line. Communicators
// have names.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/communicator/processes/rank/long_runs.h"
#include "runtime/communicator/processes/rank/messages.h"
#include "runtime/communicator/processes/rank/surroundings.h"

namespace {

using purlin::test::Place;
using purlin::test::text_of;

class Rank {
 public:
  explicit Rank(Place place) : place_(std::move(place)) {}

  std::string answer(const std::string& command, std::istringstream& arguments) {
    if (command == "pid") return std::to_string(::getpid());
    if (command == "surroundings") return purlin::test::change_surroundings(arguments);
    if (command == "timeout") return set_timeout(arguments);
    if (command == "cycles") return purlin::test::run_cycles(place_, arguments);
    if (command == "burst") return purlin::test::run_burst(place_, arguments);
    if (command == "soak") return purlin::test::run_soak(place_, arguments);
    if (command == "messages") return purlin::test::run_messages(place_, arguments);
    if (command == "differ") return purlin::test::run_difference(place_, arguments);
    if (command == "sweep") return purlin::test::run_sweep(place_, arguments);
    std::string name;
    arguments >> name;
    if (command == "create") return create(name, arguments);
    if (!comms_.contains(name)) return "no communicator " + name;
    const purlin_comm_t comm = comms_[name];
    if (command == "reduce") return reduce(name, arguments);
    if (command == "repeat") return repeat(name, arguments);
    if (command == "repeat-gather") return repeat_gather(name, arguments);
    if (command == "register") return enroll(comm, arguments);
    if (command == "split") return split(comm);
    if (command == "atom") return atom(comm);
    if (command == "notes") return notes(comm);
    if (command == "abort") return text_of(purlin_comm_abort(comm));
    if (command == "error")
      return text_of(purlin_comm_async_error(comm), purlin_comm_last_error(comm));
    if (command == "destroy") {
      comms_.erase(name);
      return text_of(purlin_comm_destroy(comm));
    }
    return "unknown command " + command;
  }

 private:
  std::string set_timeout(std::istringstream& arguments) {
    arguments >> place_.timeout_ms;
    return "ok";
  }
  // create NAME [RANK NRANKS ID-IN-HEX]: in another place than the one that was given at start.
  std::string create(const std::string& name, std::istringstream& arguments) {
    Place place = place_;
    if (arguments >> place.rank >> place.nranks) {
      std::string id;
      arguments >> id;
      place.id = purlin::test::unique_id(id);
    }
    purlin_comm_t comm = nullptr;
    const std::string said = purlin::test::create(place, name, "", &comm);
    if (comm != nullptr) comms_[name] = comm;
    return said;
  }
  // One checked all-reduce of COUNT u32, whose values tell calls apart.
  std::string reduce(const std::string& name, std::istringstream& arguments) {
    uint64_t count = 0;
    arguments >> count;
    return purlin::test::reduce_once(comms_[name], count, static_cast<uint32_t>(calls_[name]++));
  }
  // The same until it fails.
  std::string repeat(const std::string& name, std::istringstream& arguments) {
    uint64_t count = 0;
    arguments >> count;
    std::string said = "ok";
    while (said == "ok")
      said = purlin::test::reduce_once(comms_[name], count, static_cast<uint32_t>(calls_[name]++));
    return said;
  }
  // A checked all-gather of COUNT u32 of each rank, until it fails.
  std::string repeat_gather(const std::string& name, std::istringstream& arguments) {
    uint64_t count = 0;
    arguments >> count;
    std::string said = "ok";
    while (said == "ok")
      said = purlin::test::gather_once(comms_[name], count, static_cast<uint32_t>(calls_[name]++));
    return said;
  }

  // register NAME BYTES: memory of this rank, which stays registered.
  std::string enroll(purlin_comm_t comm, std::istringstream& arguments) {
    size_t bytes = 0;
    arguments >> bytes;
    buffers_.emplace_back(bytes);
    purlin_registration_t made = nullptr;
    return text_of(purlin_comm_register(comm, buffers_.back().data(), bytes, &made));
  }
  // Into one communicator of all, which is destroyed at once.
  static std::string split(purlin_comm_t comm) {
    purlin_comm_t part = nullptr;
    const std::string said = text_of(purlin_comm_split(comm, 0, 0, &part));
    return said == "ok" ? text_of(purlin_comm_destroy(part)) : said;
  }

  static nlohmann::json explained(purlin_comm_t comm, int collective) {
    purlin_query query{};
    query.struct_size = sizeof query;
    query.comm = comm;
    query.collective = collective;
    query.bytes = 1 << 20;
    char* text = nullptr;
    if (purlin_explain(&query, &text) != PURLIN_OK) return {{"error", purlin_last_error()}};
    auto answer = nlohmann::json::parse(text);
    purlin_free_text(text);
    return answer;
  }
  // Name of the Atom that serves `comm`, and why.
  static std::string atom(purlin_comm_t comm) {
    const auto answer = explained(comm, PURLIN_ALL_REDUCE);
    if (answer.contains("error")) return answer["error"];
    return answer["atom"]["name"].get<std::string>() + ": " +
           answer["atom"]["why"].get<std::string>();
  }
  // How an all-gather of 1 MiB begins, and the notes on it.
  static std::string notes(purlin_comm_t comm) {
    const auto answer = explained(comm, PURLIN_ALL_GATHER);
    if (answer.contains("error")) return answer["error"];
    return answer["plan"]["steps"][0]["name"].get<std::string>() + " " + answer["notes"].dump();
  }

  Place place_;
  std::map<std::string, purlin_comm_t> comms_;
  std::map<std::string, uint64_t> calls_;
  std::vector<std::vector<unsigned char>> buffers_;
};

}  // namespace

int main(int argc, char** argv) {
  // Tests count descriptors from the three standard ones: whoever started them may have left more.
  ::syscall(SYS_close_range, 3u, ~0u, 0u);
  if (argc != 5) return 2;
  Place place;
  place.id = purlin::test::unique_id(argv[1]);
  place.rank = std::atoi(argv[2]);
  place.nranks = std::atoi(argv[3]);
  place.timeout_ms = static_cast<unsigned>(std::atoi(argv[4]));
  Rank rank(place);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "exit") std::_Exit(0);  // leaves without a goodbye
    std::string said = rank.answer(command, words);
    std::replace(said.begin(), said.end(), '\n', ' ');
    std::cout << said << std::endl;
  }
  return 0;
}
