// What must hold of any bytes that are given to the reader; shared by the random test and the
// fuzzer.
#pragma once

#include <cctype>
#include <string>

#include "policy/capacity.h"
#include "policy/choose.h"
#include "policy/dump.h"
#include "policy/reader.h"
#include "policy/wire.h"

namespace purlin::policy {

// "p.yaml:LINE:COLUMN: " and something behind it.
inline bool is_placed(const std::string& message) {
  size_t at = 0;
  const auto number = [&] {
    const size_t start = at;
    while (at < message.size() && std::isdigit(static_cast<unsigned char>(message[at])) != 0) ++at;
    return at > start && message[start] != '0';
  };
  const auto text = [&](const std::string& part) {
    const bool same = message.compare(at, part.size(), part) == 0;
    at += part.size();
    return same;
  };
  return text("p.yaml:") && number() && text(":") && number() && text(": ") &&
         at + 3 < message.size();
}

// The law that the reader breaks on this text, or "".
inline std::string broken_law(const std::string& text) {
  const auto policy = read_policy(text, "p.yaml", PURLIN_DEVICE_HOST);
  if (!policy.is_ok()) {
    if (policy.status().code() != PURLIN_POLICY_ERROR) return "an error of another code";
    return is_placed(policy.status().message())
               ? ""
               : "an error without a place: " + policy.status().message();
  }
  for (const int nranks : {1, 2, 7, 64}) {
    if (!check_against(*policy, {}, nranks).is_ok()) continue;
    const ChoiceTable table(*policy, nranks, std::vector<std::string>(PURLIN_COLLECTIVE_COUNT));
    for (unsigned c = 0; c < PURLIN_COLLECTIVE_COUNT; ++c) {
      const auto collective = static_cast<purlin_collective>(c);
      uint64_t previous = 0;
      for (const auto& entry : table.entries(collective)) {
        if (previous != 0 && entry.up_to <= previous) return "boundaries do not ascend";
        previous = entry.up_to;
        if (!entry.choice.is_ok()) continue;
        const Choice& choice = *entry.choice;
        if (choice.path.value == PURLIN_PATH_LATENCY &&
            entry.up_to > packet_capacity(*policy, collective, nranks, choice.one_shot.value))
          return "packets beyond their capacity";
        if (choice.chunk.value == 0 || choice.chunk.value % 16 != 0 ||
            2 * choice.chunk.value * static_cast<uint64_t>(nranks) >
                policy->staging.throughput_bytes.value)
          return "a chunk beyond the staging";
        if (choice.stage_ctas.value + choice.reduce_ctas.value + choice.gather_ctas.value >
            kMaxCtas)
          return "more CTAs than have flags";
      }
      if (previous != kNoLimit) return "the last choice has an end";
    }
    const WireFingerprint fingerprint = wire_fingerprint(*policy, nranks);
    const auto received = deserialise(serialise(fingerprint));
    if (!received.is_ok() || !compare(fingerprint, 0, *received, 1).is_ok())
      return "a fingerprint that does not survive the journey";
  }
  return to_json(*policy).dump().empty() ? "no JSON" : "";
}

}  // namespace purlin::policy
