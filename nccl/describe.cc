#include "nccl/describe.h"

#include <nlohmann/json.hpp>

namespace purlin::nccl {

std::string describe(const Comm& comm) {
  std::string line = std::string(purlin_version()) + ", in place of NCCL 2.28.9: rank " +
                     std::to_string(comm.rank) + " of " + std::to_string(comm.nranks) + ", " +
                     (comm.device < 0 ? "host" : "CUDA device " + std::to_string(comm.device));
  if (!comm.wishes.name.empty()) line += ", communicator " + comm.wishes.name;
  purlin_query query{};
  query.struct_size = sizeof query;
  query.comm = comm.purlin;
  query.collective = PURLIN_ALL_REDUCE;
  query.dtype = PURLIN_F32;
  query.nranks = comm.nranks;
  query.bytes = 1 << 20;
  char* json = nullptr;
  if (purlin_explain(&query, &json) != PURLIN_OK)
    return line + "; Atom and policy unknown: " + purlin_last_error();
  const auto answer = nlohmann::json::parse(json, nullptr, false);
  purlin_free_text(json);
  if (answer.is_discarded() || !answer.contains("atom") || !answer.contains("policy"))
    return line + "; Atom and policy unknown: the library's answer was not understood";
  const auto& atom = answer["atom"];
  return line + "; Atom " + atom.value("name", "?") + " (" + atom.value("rule", "?") + ": " +
         atom.value("why", "?") + "); policy " + answer["policy"].value("file", "?");
}

}  // namespace purlin::nccl
