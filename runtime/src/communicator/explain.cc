#include "communicator/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "communicator/cuda_grid.h"
#include "communicator/element.h"
#include "communicator/explain_notes.h"
#include "communicator/plan_text.h"
#include "communicator/prepare.h"
#include "communicator/switch_side.h"
#include "communicator/wire_config.h"
#include "plugin/choice.h"
#include "plugin/from_policy.h"
#include "plugin/registry.h"
#include "plugin/report.h"
#include "policy/capacity.h"
#include "policy/dump.h"
#include "policy/match.h"
#include "policy/overrides.h"
#include "policy/search.h"
#include "policy/words.h"

namespace purlin {
namespace {

using nlohmann::ordered_json;

struct Parts {
  std::string device;
  policy::Found found;
  plugin::Catalogue catalogue;
};

Result<Parts> find_parts(const purlin_query& query, const Communicator* comm) {
  Parts parts;
  if (comm != nullptr) {
    parts.device = comm->device_ordinal() < 0 ? "host" : fmt::format("cuda:{}", comm->device_ordinal());
    parts.found = comm->policy();
    parts.catalogue = comm->catalogue();
    return parts;
  }
  parts.device = query.device != nullptr ? query.device : "host";
  auto facts = policy::device_facts_of(parts.device);
  if (!facts) return facts.status();
  auto found = policy::find_policy(*facts, policy::request_of(query.policy_path, query.policy_text));
  if (!found) return found.status();
  parts.found = *std::move(found);
  parts.catalogue = plugin::discover(plugin::selection_from(parts.found.policy), *facts);
  return parts;
}

Result<plugin::BoundAtom> atom_for(const Parts& parts, const purlin_query& query,
                                   const Communicator* comm) {
  if (comm != nullptr) return comm->atom();
  return plugin::choose(parts.catalogue, plugin::every_collective(query.nranks));
}

SwitchSide switch_for(const Parts& parts, int nranks, const Communicator* comm) {
  return comm != nullptr ? comm->switch_side()
                         : find_switch(parts.found.policy, parts.catalogue, nranks);
}

// `decided_by`: what made it so, unless a variable says off.
ordered_json nvls_json(bool used, const std::string& decided_by) {
  const auto off = policy::nvls_off_switch(policy::process_environment());
  return {{"allowed", !off.has_value()}, {"used", used}, {"decided_by", off ? *off : decided_by}};
}

// Of one call: its reduction as asked for, and why the switch cannot have it where it was asked for.
ordered_json nvls_json(const policy::Choice& choice) {
  const bool used = choice.path.value == PURLIN_PATH_SWITCH;
  const auto& from = used ? choice.path.origin : choice.reduction.origin;
  return nvls_json(used, !used && !choice.notes.empty()
                             ? choice.notes.front()
                             : fmt::format("reduction {}, said by {}",
                                           policy::word(choice.reduction.value), from.text()));
}

std::string path_text(const Launch& launch) {
  if (launch.switched) return "switch";
  if (launch.packets && launch.chunks) return "latency for small pairs, throughput for the others";
  return launch.packets ? "latency" : "throughput";
}

std::string path_reason(const policy::Policy& policy, const policy::Choice& choice,
                        const policy::Query& asked) {
  if (choice.path.value == PURLIN_PATH_SWITCH)
    return fmt::format("NVLS, asked for by {}", choice.path.origin.text());
  const auto& crossover = policy.crossover.at(asked.collective, asked.nranks, asked.bytes);
  return fmt::format("crossover {} bytes, said by {}", crossover.value, crossover.origin.text());
}

template <class T>
ordered_json setting(const char* name, const std::string& value, const policy::Setting<T>& from) {
  return {{"name", name}, {"value", value}, {"origin", from.origin.text()}};
}

ordered_json settings_json(const policy::Policy& policy, const policy::Choice& choice) {
  auto number = [](auto value) { return fmt::format("{}", value); };
  ordered_json list = ordered_json::array();
  list.push_back(setting("path", policy::word(choice.path.value), choice.path));
  list.push_back(setting("reduction", policy::word(choice.reduction.value), choice.reduction));
  list.push_back(setting("one_shot", choice.one_shot.value ? "yes" : "no", choice.one_shot));
  list.push_back(setting("direction", policy::word(choice.direction.value), choice.direction));
  list.push_back(setting("chunk", number(choice.chunk.value), choice.chunk));
  list.push_back(setting("zero_copy", choice.zero_copy.value ? "on" : "off", choice.zero_copy));
  list.push_back(setting("ctas.stage", number(choice.stage_ctas.value), choice.stage_ctas));
  list.push_back(setting("ctas.reduce", number(choice.reduce_ctas.value), choice.reduce_ctas));
  list.push_back(setting("ctas.gather", number(choice.gather_ctas.value), choice.gather_ctas));
  auto own = [](auto value) { return value == 0 ? "the Atom's own" : fmt::format("{}", value); };
  list.push_back(setting("stages", own(choice.stages.value), choice.stages));
  list.push_back(setting("stage_bytes", own(choice.stage_bytes.value), choice.stage_bytes));
  list.push_back(setting("threads", own(choice.threads.value), choice.threads));
  list.push_back(setting("staging.latency_bytes", number(policy.staging.latency_bytes.value),
                         policy.staging.latency_bytes));
  list.push_back(setting("staging.throughput_bytes", number(policy.staging.throughput_bytes.value),
                         policy.staging.throughput_bytes));
  list.push_back(setting("checking", policy.checking.value ? "on" : "off", policy.checking));
  list.push_back(setting("timeouts.wait", fmt::format("{} ms", policy.wait_timeout.value.count()),
                         policy.wait_timeout));
  return list;
}

// A call of the queried size whose buffers are never touched; `counts` outlives it.
purlin_call sample_call(const purlin_query& query, std::vector<uint64_t>* counts) {
  const auto n = static_cast<uint64_t>(query.nranks);
  purlin_call call{};
  call.struct_size = sizeof call;
  call.collective = query.collective;
  call.dtype = query.dtype;
  call.op = query.op;
  call.reduction = query.reduction;
  call.transformation = query.transformation;
  // Far apart, so that they do not overlap.
  call.send = reinterpret_cast<const void*>(uintptr_t{1} << 40);
  call.recv = reinterpret_cast<void*>(uintptr_t{1} << 46);
  static const uint64_t one = 1;  // any scalar
  call.scalar = &one;
  const uint64_t elements = query.bytes / element_bytes(query.dtype);
  const bool whole = query.collective == PURLIN_ALL_REDUCE || query.collective == PURLIN_BROADCAST ||
                     query.collective == PURLIN_REDUCE;
  call.count = whole ? elements : elements / n;
  if (query.collective == PURLIN_CUSTOM && query.transformation != nullptr &&
      query.transformation->step_count == 2)
    call.count = call.count / n * n;
  counts->assign(n, elements / n);
  call.send_counts = call.recv_counts = counts->data();
  return call;
}

Status check_query(const purlin_query& query) {
  if (query.struct_size < sizeof query)
    return Status(PURLIN_INVALID_ARGUMENT, fmt::format("purlin_query.struct_size is {}, expected {}",
                                                       query.struct_size, sizeof query));
  if (query.nranks < 1 || query.nranks > PURLIN_MAX_RANKS)
    return Status(PURLIN_INVALID_ARGUMENT, fmt::format("nranks is {}, expected 1 to {}", query.nranks,
                                                       PURLIN_MAX_RANKS));
  if (element_bytes(query.dtype) == 0)
    return Status(PURLIN_INVALID_ARGUMENT, fmt::format("dtype is {}, which is no purlin_dtype",
                                                       query.dtype));
  if (query.collective < 0 || query.collective >= PURLIN_CUSTOM + 1 ||
      query.collective == PURLIN_SEND_RECV)
    return Status(PURLIN_INVALID_ARGUMENT, fmt::format("collective is {}; collectives other than "
                                                       "send_recv are explained", query.collective));
  return {};
}

Result<std::vector<Launch>> prepare_all(const purlin_call& call, const policy::Policy& policy,
                                        const policy::Choice& choice,
                                        const purlin_atom_descriptor& atom, int nranks,
                                        uint32_t least_chunks) {
  WireFacts wire;
  wire.direct = atom.kind == PURLIN_ATOM_HOST;
  wire.limits = wire.switch_limits = atom.limits;
  wire.least_chunks = least_chunks;
  wire.config = wire_config(policy, nranks, choice.path.value == PURLIN_PATH_SWITCH);
  wire.map = snac::map_wire(wire.config);
  wire.checking = policy.checking.value;
  std::vector<Launch> launches(static_cast<size_t>(nranks));
  for (int r = 0; r < nranks; ++r) {
    auto facts = check_call(call, nranks, r);
    if (!facts) return facts.status();
    Launch& launch = launches[static_cast<size_t>(r)];
    launch.params.map = wire.map;
    PURLIN_RETURN_IF_ERROR(prepare_launch(*facts, choice, wire, nranks, r, &launch));
  }
  return launches;
}

}  // namespace

Result<ordered_json> explain_call(const purlin_query& asked_query, const Communicator* comm) {
  purlin_query query = asked_query;
  if (comm != nullptr) query.nranks = comm->size();
  PURLIN_RETURN_IF_ERROR(check_query(query));
  auto parts = find_parts(query, comm);
  if (!parts) return parts.status();
  const policy::Policy& policy = parts->found.policy;
  auto atom = atom_for(*parts, query, comm);
  if (!atom) return atom.status();
  policy::Bound bound;
  bound.limits = atom->descriptor->limits;
  bound.atom = atom->descriptor->name;
  bound.cuda = atom->descriptor->kind == PURLIN_ATOM_CUDA;
  if (comm == nullptr) PURLIN_RETURN_IF_ERROR(policy::check_against(policy, bound, query.nranks));
  policy::Query asked;
  asked.collective = static_cast<purlin_collective>(query.collective);
  asked.nranks = query.nranks;
  asked.bytes = query.bytes;
  asked.reduction = static_cast<purlin_reduction>(query.reduction);
  const SwitchSide switched = switch_for(*parts, query.nranks, comm);
  asked.switch_refusal = switched.refusal_of(asked.collective, query.dtype, query.op);
  auto choice = policy::choose(policy, asked);
  if (!choice) return choice.status();
  if (choice->path.value == PURLIN_PATH_SWITCH) {
    atom = switched.atom;
    if (choice->reduction.value == PURLIN_REDUCTION_NVLS)
      choice->notes.push_back("the switch adds in an order of its own: bits may differ from call to "
                              "call; only SCORE promises the same");
  }
  std::vector<uint64_t> counts;
  // Without a communicator: as with a GPU for each rank, that gives what the choice asks for.
  const uint32_t wanted =
      choice->stage_ctas.value + choice->reduce_ctas.value + choice->gather_ctas.value;
  const uint32_t least_chunks =
      comm != nullptr ? comm->least_chunks()
      : bound.cuda    ? least_chunks_for(wanted, static_cast<unsigned>(query.nranks))
                      : 1;
  auto launches = prepare_all(sample_call(query, &counts), policy, *choice, *atom->descriptor,
                              query.nranks, least_chunks);
  if (!launches) return launches.status();
  const std::string reading = note_on_reading(comm, &*launches);

  ordered_json answer;
  answer["collective"] = policy::word(asked.collective);
  answer["bytes"] = query.bytes;
  answer["ranks"] = query.nranks;
  answer["dtype"] = policy::word(static_cast<purlin_dtype>(query.dtype));
  if (query.collective == PURLIN_ALL_REDUCE || query.collective == PURLIN_REDUCE ||
      query.collective == PURLIN_REDUCE_SCATTER || query.collective == PURLIN_REDUCE_SCATTER_V)
    answer["op"] = policy::word(static_cast<purlin_op>(query.op));
  answer["device"] = parts->device;
  answer["policy"] = {{"file", policy.name}, {"searched", policy::to_json(parts->found.trace)}};
  answer["path"] = path_text((*launches)[0]);
  answer["path_reason"] = path_reason(policy, *choice, asked);
  answer["atom"] = {{"name", atom->descriptor->name},
                    {"version", atom->descriptor->version},
                    {"path", atom->path.string()},
                    {"rule", atom->rule},
                    {"why", atom->reason}};
  answer["reduction"] = policy::word(choice->reduction.value);
  answer["plan"] = plan_json(*launches);
  answer["settings"] = settings_json(policy, *choice);
  answer["nvls"] = nvls_json(*choice);
  answer["checks"] = ordered_json::array(
      {fmt::format("packets of this communicator hold {} bytes for one peer, chunk staging {} bytes",
                   snac::packet_capacity((*launches)[0].params.map, (*launches)[0].transformation),
                   (*launches)[0].params.map.staging_bytes)});
  answer["notes"] = choice->notes;
  for (const std::string& note : {reading, note_on_windows(comm, (*launches)[0])})
    if (!note.empty()) answer["notes"].push_back(note);
  for (const std::string& note : notes_on_meeting(comm)) answer["notes"].push_back(note);
  return answer;
}

Result<ordered_json> explain_plugins(const purlin_query& query, const Communicator* comm) {
  if (query.struct_size < sizeof query)
    return Status(PURLIN_INVALID_ARGUMENT, fmt::format("purlin_query.struct_size is {}, expected {}",
                                                       query.struct_size, sizeof query));
  auto parts = find_parts(query, comm);
  if (!parts) return parts.status();
  ordered_json answer = plugin::catalogue_json(parts->catalogue);
  answer["policy"] = parts->found.policy.name;
  const SwitchSide switched = switch_for(*parts, std::max(query.nranks, 2), comm);
  answer["nvls"] = nvls_json(
      switched.serves(), switched.serves()
                             ? fmt::format("the policy, which asks for it; Atom {} serves",
                                           switched.atom.descriptor->name)
                             : switched.refusal);
  return answer;
}

}  // namespace purlin
