#include "nccl/config.h"

#include <algorithm>
#include <cstring>

#include "nccl/errors.h"

namespace purlin::nccl {
namespace {

constexpr int kMostClusterSize = 8;

Result bad(const std::string& text) { return fail(kInvalidArgument, "config: " + text); }

bool is_switch(int value) { return value == kUndefined || value == 0 || value == 1; }
bool is_count(int value) { return value == kUndefined || value > 0; }

}  // namespace

Result read_config(const Config* config, Wishes* wishes) {
  if (config == nullptr) return kSuccess;
  if (config->magic != kConfigMagic || config->size < offsetof(Config, cluster_size))
    return bad("it was not set to NCCL_CONFIG_INITIALIZER: size is " +
               std::to_string(config->size) + ", magic is " + std::to_string(config->magic));
  Config known;
  known.cluster_size = known.min_ctas = known.max_ctas = known.split_share = kUndefined;
  known.name = nullptr;
  std::memcpy(static_cast<void*>(&known), config, std::min(config->size, sizeof known));
  if (!is_switch(known.blocking))
    return bad("blocking is " + std::to_string(known.blocking) + ", expected 0 or 1");
  if (!is_switch(known.split_share))
    return bad("splitShare is " + std::to_string(known.split_share) + ", expected 0 or 1");
  if (known.cluster_size != kUndefined &&
      (known.cluster_size < 0 || known.cluster_size > kMostClusterSize))
    return bad("cgaClusterSize is " + std::to_string(known.cluster_size) + ", expected 0 to " +
               std::to_string(kMostClusterSize));
  if (!is_count(known.min_ctas) || !is_count(known.max_ctas))
    return bad("minCTAs is " + std::to_string(known.min_ctas) + " and maxCTAs is " +
               std::to_string(known.max_ctas) + "; both must be positive");
  if (known.min_ctas != kUndefined && known.max_ctas != kUndefined &&
      known.min_ctas > known.max_ctas)
    return bad("minCTAs is " + std::to_string(known.min_ctas) + ", above maxCTAs, which is " +
               std::to_string(known.max_ctas));
  if (known.blocking != kUndefined) wishes->blocking = known.blocking == 1;
  if (known.max_ctas != kUndefined) wishes->cta_budget = static_cast<unsigned>(known.max_ctas);
  if (known.name != nullptr) wishes->name = known.name;
  return kSuccess;
}

}  // namespace purlin::nccl
