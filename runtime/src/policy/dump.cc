#include "policy/dump.h"

#include <fmt/format.h>

#include "policy/quantity.h"
#include "policy/words.h"

namespace purlin::policy {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Origin& origin) {
  switch (origin.source) {
    case Source::kBuiltIn:
      return {{"source", "built-in"}};
    case Source::kFile:
      return {{"source", "file"},
              {"file", origin.where},
              {"line", origin.line},
              {"column", origin.column}};
    case Source::kEnvironment:
      return {{"source", "environment"}, {"variable", origin.where}};
    case Source::kApi:
      return {{"source", "api"}, {"field", origin.where}};
  }
  return nullptr;
}

Json with(Json value, const Origin& origin) {
  return {{"value", std::move(value)}, {"origin", to_json(origin)}};
}

template <class E>
Json worded(const Setting<E>& setting) {
  return with(word(setting.value), setting.origin);
}
template <class T>
Json plain(const Setting<T>& setting) {
  return with(setting.value, setting.origin);
}
Json plain(const Setting<std::chrono::milliseconds>& setting) {
  return with(format_duration(setting.value), setting.origin);
}
// 0 means "auto".
Json or_auto(const Setting<uint32_t>& setting) {
  return with(setting.value == 0 ? Json("auto") : Json(setting.value), setting.origin);
}
Json words(const Words& list) {
  Json out = Json::array();
  for (const auto& item : list) out.push_back(plain(item));
  return out;
}

Json scope(const Scope& scope) {
  Json collectives = Json::array();
  for (unsigned c = 0; c < PURLIN_COLLECTIVE_COUNT; ++c)
    if ((scope.collectives >> c & 1u) != 0)
      collectives.push_back(word(static_cast<purlin_collective>(c)));
  if (scope.collectives == kAllCollectives) collectives = "all";
  return {
      {"collectives", collectives}, {"ranks", format(scope.ranks)}, {"bytes", format(scope.bytes)}};
}

template <class T, class Show>
Json table(const Table<T>& table, Show show) {
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json entry = scope(row.scope);
    entry.update(show(row.setting));
    rows.push_back(std::move(entry));
  }
  return {{"default", show(table.otherwise)}, {"rows", std::move(rows)}};
}

Json tuning(const Tuning& from) {
  Json out = Json::object();
  const auto put = [&](const char* key, const auto& setting, auto show) {
    if (setting) out[key] = show(*setting);
  };
  const auto number = [](const auto& s) { return plain(s); };
  const auto text = [](const auto& s) { return worded(s); };
  put("path", from.path, text);
  put("direction", from.direction, text);
  put("chunk", from.chunk, number);
  put("ctas.stage", from.stage_ctas, number);
  put("ctas.reduce", from.reduce_ctas, number);
  put("ctas.gather", from.gather_ctas, number);
  put("stages", from.stages, or_auto);
  put("stage_bytes", from.stage_bytes, or_auto);
  put("threads", from.threads, or_auto);
  put("zero_copy", from.zero_copy, number);
  return out;
}

Json match(const Match& from) {
  Json out = Json::object();
  if (from.kind) out["kind"] = worded(*from.kind);
  Json list = Json::array();
  for (const auto& range : from.architectures)
    list.push_back(with(range.value.first == range.value.last
                            ? fmt::format("sm_{}", range.value.first)
                            : fmt::format("sm_{}..sm_{}", range.value.first, range.value.last),
                        range.origin));
  if (!list.empty()) out["architecture"] = std::move(list);
  if (from.name) out["name"] = plain(*from.name);
  return out;
}

Json programs(const std::vector<ProgramRequest>& from) {
  Json out = Json::array();
  for (const ProgramRequest& program : from) {
    Json entry = {{"kind", word(program.kind)}};
    if (program.kind == ProgramKind::kReduce) {
      entry["dtype"] = word(program.dtype);
      entry["op"] = word(program.op);
    }
    entry["ranks"] = program.ranks ? Json(format(*program.ranks)) : Json("the communicator's");
    entry["origin"] = to_json(program.origin);
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace

nlohmann::ordered_json to_json(const Policy& policy) {
  return {
      {"name", policy.name},
      {"file", policy.file},
      {"match", match(policy.match)},
      {"plugins",
       {{"path", words(policy.plugins.path)},
        {"enable", words(policy.plugins.enable)},
        {"disable", words(policy.plugins.disable)}}},
      {"datapath",
       {{"prefer", words(policy.datapath.prefer)}, {"deny", words(policy.datapath.deny)}}},
      {"reduction", table(policy.reduction, [](const auto& setting) { return worded(setting); })},
      {"crossover", table(policy.crossover, [](const auto& setting) { return plain(setting); })},
      {"one_shot_limit",
       table(policy.one_shot_limit, [](const auto& setting) { return plain(setting); })},
      {"tuning",
       {{"default", tuning(policy.tuning)},
        {"rows",
         [&] {
           Json rows = Json::array();
           for (const TuningRow& row : policy.tuning_rows) {
             Json entry = scope(row.scope);
             entry["settings"] = tuning(row.tuning);
             entry["origin"] = to_json(row.origin);
             rows.push_back(std::move(entry));
           }
           return rows;
         }()}}},
      {"staging",
       {{"latency_bytes", plain(policy.staging.latency_bytes)},
        {"throughput_bytes", plain(policy.staging.throughput_bytes)},
        {"pair_slots", plain(policy.staging.pair_slots)},
        {"pair_bytes", plain(policy.staging.pair_bytes)}}},
      {"cta_budget", or_auto(policy.cta_budget)},
      {"packets", worded(policy.packets)},
      {"checking", plain(policy.checking)},
      {"timeouts",
       {{"wait", plain(policy.wait_timeout)}, {"create", plain(policy.create_timeout)}}},
      {"programs", programs(policy.programs)},
      {"host",
       {{"spins", plain(policy.host_wait.spins)}, {"yields", plain(policy.host_wait.yields)}}},
  };
}

nlohmann::ordered_json to_json(const Choice& choice) {
  Json out = {
      {"path", worded(choice.path)},
      {"reduction", worded(choice.reduction)},
      {"one_shot", plain(choice.one_shot)},
      {"direction", worded(choice.direction)},
      {"chunk", plain(choice.chunk)},
      {"ctas",
       {{"stage", plain(choice.stage_ctas)},
        {"reduce", plain(choice.reduce_ctas)},
        {"gather", plain(choice.gather_ctas)}}},
      {"stages", or_auto(choice.stages)},
      {"stage_bytes", or_auto(choice.stage_bytes)},
      {"threads", or_auto(choice.threads)},
      {"zero_copy", plain(choice.zero_copy)},
      {"cta_budget", or_auto(choice.cta_budget)},
  };
  out["notes"] = choice.notes;
  return out;
}

nlohmann::ordered_json to_json(const std::vector<Candidate>& trace) {
  Json out = Json::array();
  for (const Candidate& candidate : trace)
    out.push_back({{"path", candidate.path},
                   {"rule", candidate.rule},
                   {"verdict", verdict_text(candidate.verdict)},
                   {"reason", candidate.reason}});
  return out;
}

}  // namespace purlin::policy
