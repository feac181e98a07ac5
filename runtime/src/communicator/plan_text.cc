#include "communicator/plan_text.h"

#include <fmt/format.h>

#include "snac/throughput.h"

namespace purlin {
namespace {

using nlohmann::ordered_json;

ordered_json step(const char* name, const std::string& text, const char* from, const char* to,
                  uint64_t bytes) {
  return {{"name", name}, {"text", text}, {"from", from}, {"to", to}, {"bytes", bytes}};
}

uint64_t most_sent(const snac::CallParams& p, int step_index) {
  uint64_t most = 0;
  for (uint32_t r = 0; r < p.nranks; ++r)
    if (r != p.rank) most = std::max(most, p.send[step_index][r].bytes);
  return most;
}

std::string consume_text(const snac::Form& form) {
  return form.reduces ? "combine what all ranks sent, in rank order, rounding once"
                      : "copy what each rank sent to its place";
}

void packet_steps(const Launch& launch, ordered_json* steps) {
  const snac::CallParams& p = launch.params;
  steps->push_back(step("push", "write packets of 8 bytes and a 64-bit tag into every peer's memory",
                        "own input", "peers' packet memory", most_sent(p, 0)));
  steps->push_back(step("notify", "nothing more: a packet's tag says that it has arrived", "", "", 0));
  if (launch.form.steps == 1) {
    steps->push_back(step("consume", consume_text(launch.form), "own packet memory", "own output", 0));
    return;
  }
  steps->push_back(step("consume", consume_text(launch.form) + "; push the result on at once",
                        "own packet memory", "own output and peers' packet memory", most_sent(p, 1)));
  steps->push_back(step("consume", "copy each rank's result to its place", "own packet memory",
                        "own output", 0));
}

void chunk_steps(const Launch& launch, ordered_json* steps) {
  const snac::CallParams& p = launch.params;
  const snac::Form& form = launch.form;
  const bool push = form.push[0];
  const uint64_t chunk = p.geometry.chunk_bytes();
  steps->push_back(step("stage", fmt::format("copy chunks of up to {} bytes", chunk), "own input",
                        push ? "consumers' staging" : "own staging", most_sent(p, 0)));
  steps->push_back(step("notify", "raise a flag at each consumer of a chunk (release)", "", "", 0));
  const char* source = push ? "own staging" : "stagers' staging";
  if (form.steps == 1) {
    steps->push_back(step("consume", "wait for the flag (acquire); " + consume_text(form), source,
                          "own output", 0));
    return;
  }
  steps->push_back(step("consume", "wait for the flags; " + consume_text(form), source,
                        "own output and staging", 0));
  steps->push_back(step("notify", "raise a flag at each consumer of the result", "", "", 0));
  steps->push_back(step("consume", "wait for the flag; copy each rank's result to its place",
                        form.push[1] ? "own staging" : "stagers' staging", "own output", 0));
}

void direct_steps(const Launch& launch, ordered_json* steps) {
  steps->push_back(step("offer", "say where own input lies, and raise a flag at each consumer (release)", "",
                        "own staging", 0));
  steps->push_back(step("consume", "wait for the flag (acquire); read each rank's input where it lies",
                        "peers' input", "own output", most_sent(launch.params, 0)));
  steps->push_back(step("notify", "acknowledge to each rank that was read; wait for those that read here", "",
                        "", 0));
}

void switch_steps(const Launch& launch, ordered_json* steps) {
  const snac::CallParams& p = launch.params;
  const snac::Form& form = launch.form;
  const auto chunks = fmt::format("copy chunks of up to {} bytes", p.geometry.chunk_bytes());
  if (!form.reduces) {
    steps->push_back(step("stage", chunks + "; the switch stores them on every rank", "own input",
                          "all replicas", p.own.bytes));
    steps->push_back(step("notify", "raise a flag at each peer (release)", "", "", 0));
    steps->push_back(step("consume", "wait for the flag (acquire); copy what each rank sent to its place",
                          "own replica", "own output", 0));
    return;
  }
  uint64_t staged = 0;
  for (uint32_t r = 0; r < p.nranks; ++r) staged += p.send[0][r].bytes;
  const uint64_t own = p.send[0][p.rank].bytes;
  steps->push_back(step("stage", chunks, "own input", "own replica", staged));
  steps->push_back(step("notify", "raise a flag at the rank that a chunk is for (release)", "", "", 0));
  const std::string load =
      "wait for all ranks' flags; load what the switch combines of them, in an order of its own";
  if (form.steps == 1) {
    steps->push_back(step("consume", load, "all replicas", "own output", own));
    return;
  }
  steps->push_back(step("consume", load + "; store it through the switch on every rank",
                        "all replicas", "all replicas", own));
  steps->push_back(step("notify", "raise a flag at each rank", "", "", 0));
  steps->push_back(step("consume", "wait for the flag; copy each rank's result to its place",
                        "own replica", "own output", 0));
}

ordered_json moves(const snac::CallParams& p, const char* peer_key, bool sends) {
  ordered_json list = ordered_json::array();
  for (int s = 0; s < 2; ++s) {
    for (uint32_t r = 0; r < p.nranks; ++r) {
      const snac::Extent& extent = sends ? p.send[s][r] : p.receive[s][r];
      if (r == p.rank || extent.bytes == 0) continue;
      list.push_back({{peer_key, r}, {"bytes", extent.bytes}, {"offset", extent.offset},
                      {"step", s + 1}});
    }
  }
  return list;
}

}  // namespace

ordered_json plan_json(const std::vector<Launch>& launches) {
  ordered_json steps = ordered_json::array();
  if (launches[0].switched) switch_steps(launches[0], &steps);
  if (launches[0].packets) packet_steps(launches[0], &steps);
  if (launches[0].direct) direct_steps(launches[0], &steps);
  else if (launches[0].chunks) chunk_steps(launches[0], &steps);
  ordered_json ranks = ordered_json::array();
  // Through the switch no rank sends to another one.
  for (const Launch& launch : launches)
    if (!launch.switched)
      ranks.push_back({{"rank", launch.params.rank},
                       {"sends", moves(launch.params, "to", true)},
                       {"receives", moves(launch.params, "from", false)}});
  return {{"steps", steps}, {"per_rank", ranks}};
}

}  // namespace purlin
