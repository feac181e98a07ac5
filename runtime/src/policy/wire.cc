#include "policy/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "policy/choose.h"
#include "policy/effective.h"
#include "policy/quantity.h"
#include "policy/words.h"

namespace purlin::policy {
namespace {

// Version of the list itself; raise it when a name or spelling changes.
constexpr const char* kWireVersion = "1";

struct Aspect {
  const char* name;
  std::function<std::string(const Choice&)> value;
  std::function<const Origin&(const Choice&)> origin;
};

template <class T>
Aspect number(const char* name, Setting<T> Choice::*member) {
  return {name, [member](const Choice& c) { return fmt::format("{}", (c.*member).value); },
          [member](const Choice& c) -> const Origin& { return (c.*member).origin; }};
}
template <class E>
Aspect named(const char* name, Setting<E> Choice::*member) {
  return {name, [member](const Choice& c) { return std::string(word((c.*member).value)); },
          [member](const Choice& c) -> const Origin& { return (c.*member).origin; }};
}

// One aspect of one collective over all sizes: "64KiB up to 1MiB, then 128KiB".
WireSetting over_sizes(const Aspect& aspect, purlin_collective collective,
                       const std::vector<ChoiceTable::Entry>& entries) {
  WireSetting setting{fmt::format("{} of {}", aspect.name, word(collective)), "", ""};
  std::string previous;
  std::vector<std::string> origins;
  for (size_t i = 0; i < entries.size(); ++i) {
    const auto& entry = entries[i];
    const std::string value = entry.choice.is_ok() ? aspect.value(*entry.choice) : "an error";
    if (entry.choice.is_ok()) {
      const std::string origin = aspect.origin(*entry.choice).text();
      if (std::find(origins.begin(), origins.end(), origin) == origins.end())
        origins.push_back(origin);
    }
    if (i == 0)
      setting.value = value;
    else if (value != previous)
      setting.value += fmt::format(" up to {}, then {}", format_size(entries[i - 1].up_to), value);
    previous = value;
  }
  for (const std::string& origin : origins)
    setting.origin += (setting.origin.empty() ? "" : ", ") + origin;
  return setting;
}

// All but the barrier, which has no size.
template <class Do>
void for_each_collective(Do run) {
  for (unsigned c = 0; c < PURLIN_COLLECTIVE_COUNT; ++c)
    if (c != PURLIN_BARRIER) run(static_cast<purlin_collective>(c));
}

}  // namespace

WireFingerprint wire_fingerprint(const Policy& policy, int nranks) {
  WireFingerprint list;
  const auto add = [&](const std::string& name, const std::string& value, const Origin& origin) {
    list.push_back({name, value, origin.text()});
  };
  add("version of the wire settings", kWireVersion, {});
  const Staging& staging = policy.staging;
  add("staging.latency_bytes", format_size(staging.latency_bytes.value),
      staging.latency_bytes.origin);
  add("staging.throughput_bytes", format_size(staging.throughput_bytes.value),
      staging.throughput_bytes.origin);
  add("staging.pair_slots", fmt::format("{}", staging.pair_slots.value), staging.pair_slots.origin);
  add("staging.pair_bytes", format_size(staging.pair_bytes.value), staging.pair_bytes.origin);
  add("packets", word(policy.packets.value), policy.packets.origin);
  add("checking", policy.checking.value ? "on" : "off", policy.checking.origin);

  for_each_collective([&](purlin_collective collective) {
    const auto crossover = effective_crossover(policy, collective, nranks);
    add(fmt::format("crossover of {}", word(collective)), format_size(crossover.value),
        crossover.origin);
  });
  const auto one_shot = effective_one_shot_limit(policy, nranks);
  add("one_shot_limit", format_size(one_shot.value), one_shot.origin);

  const std::vector<Aspect> aspects = {
      named("path", &Choice::path),
      named("reduction", &Choice::reduction),
      named("direction", &Choice::direction),
      {"chunk", [](const Choice& c) { return format_size(c.chunk.value); },
       [](const Choice& c) -> const Origin& { return c.chunk.origin; }},
      number("ctas.stage", &Choice::stage_ctas),
      number("ctas.reduce", &Choice::reduce_ctas),
      number("ctas.gather", &Choice::gather_ctas),
      {"zero_copy", [](const Choice& c) { return std::string(c.zero_copy.value ? "on" : "off"); },
       [](const Choice& c) -> const Origin& { return c.zero_copy.origin; }},
  };
  // As if the switch could be had everywhere: whether it can is agreed by other means.
  const ChoiceTable table(policy, nranks, std::vector<std::string>(PURLIN_COLLECTIVE_COUNT));
  for_each_collective([&](purlin_collective collective) {
    for (const Aspect& aspect : aspects)
      list.push_back(over_sizes(aspect, collective, table.entries(collective)));
  });
  return list;
}

std::string serialise(const WireFingerprint& fingerprint) {
  nlohmann::json list = nlohmann::json::array();
  for (const WireSetting& setting : fingerprint)
    list.push_back({setting.name, setting.value, setting.origin});
  // File names need not be UTF-8.
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<WireFingerprint> deserialise(const std::string& text) {
  const Status garbled(PURLIN_MISMATCH,
                       "a peer's settings cannot be read: it runs another version of Purlin; use "
                       "the same version on all ranks");
  const nlohmann::json list = nlohmann::json::parse(text, nullptr, false);
  if (!list.is_array()) return garbled;
  WireFingerprint fingerprint;
  for (const auto& entry : list) {
    if (!entry.is_array() || entry.size() != 3) return garbled;
    for (const auto& part : entry)
      if (!part.is_string()) return garbled;
    fingerprint.push_back(
        {entry[0].get<std::string>(), entry[1].get<std::string>(), entry[2].get<std::string>()});
  }
  return fingerprint;
}

Status compare(const WireFingerprint& mine, int my_rank, const WireFingerprint& theirs,
               int their_rank) {
  for (size_t i = 0; i < std::max(mine.size(), theirs.size()); ++i) {
    const WireSetting none{"nothing", "nothing", "its list is shorter"};
    const WireSetting& a = i < mine.size() ? mine[i] : none;
    const WireSetting& b = i < theirs.size() ? theirs[i] : none;
    if (a.name != b.name)
      return Status(PURLIN_MISMATCH,
                    fmt::format("ranks compare different settings: rank {} has {}, rank {} has {}; "
                                "use the same version of Purlin on all ranks",
                                my_rank, a.name, their_rank, b.name));
    if (a.value != b.value)
      return Status(
          PURLIN_MISMATCH,
          fmt::format("{} differs between ranks: rank {} has {} ({}), rank {} has {} ({}); "
                      "give all ranks the same policy",
                      a.name, my_rank, a.value, a.origin, their_rank, b.value, b.origin));
  }
  return Status::ok();
}

}  // namespace purlin::policy
