#include "nccl/describe.h"

#include <nlohmann/json.hpp>

namespace purlin::nccl {
namespace {

using nlohmann::json;

std::string text_in(const json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_string()
             ? object[key].get<std::string>()
             : "?";
}

// "h200 (install's folder, /opt/…/h200.yaml)": the candidate that was chosen says why.
std::string policy_text(const json& policy) {
  std::string text = text_in(policy, "file");
  if (!policy.contains("searched")) return text;
  for (const json& candidate : policy["searched"])
    if (text_in(candidate, "verdict") == "chosen")
      text += " (" + text_in(candidate, "rule") + ", " + text_in(candidate, "path") + ")";
  return text;
}

}  // namespace

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
  char* text = nullptr;
  if (purlin_explain(&query, &text) != PURLIN_OK)
    return line + "; Atom and policy unknown: " + purlin_last_error();
  const json answer = json::parse(text, nullptr, false);
  purlin_free_text(text);
  if (!answer.is_object() || !answer.contains("atom") || !answer.contains("policy"))
    return line + "; Atom and policy unknown: the library's answer was not understood";
  const json& atom = answer["atom"];
  return line + "; Atom " + text_in(atom, "name") + " (" + text_in(atom, "rule") + ": " +
         text_in(atom, "why") + "); policy " + policy_text(answer["policy"]);
}

}  // namespace purlin::nccl
