#include "api/setup.h"

#include <atomic>

#include <fmt/format.h>

#include "rendezvous/launcher_environment.h"
#include "rendezvous/unique_id.h"

namespace purlin {
namespace {

Status bad(const std::string& text) { return Status(PURLIN_INVALID_ARGUMENT, text); }

std::string next_name() {
  static std::atomic<unsigned> count{0};
  return fmt::format("#{}", count.fetch_add(1));
}

Status check(const purlin_comm_options& o) {
  if (o.struct_size < sizeof o)
    return bad(fmt::format("purlin_comm_options.struct_size is {}, expected {}: start from "
                           "PURLIN_COMM_OPTIONS_INIT", o.struct_size, sizeof o));
  if (o.nranks < 0 || o.nranks > PURLIN_MAX_RANKS)
    return bad(fmt::format("nranks is {}, expected 1 to {}, or 0 to take it from the launcher",
                           o.nranks, PURLIN_MAX_RANKS));
  if (o.nranks > 0 && (o.rank < 0 || o.rank >= o.nranks))
    return bad(fmt::format("rank is {}, expected 0 to {}", o.rank, o.nranks - 1));
  if (o.device_kind < PURLIN_DEVICE_AUTO || o.device_kind > PURLIN_DEVICE_CUDA)
    return bad(fmt::format("device_kind is {}, expected one of purlin_device_kind", o.device_kind));
  if (o.policy_path != nullptr && o.policy_text != nullptr)
    return bad("both policy_path and policy_text are given; give one");
  if (o.checking < -1 || o.checking > 1)
    return bad(fmt::format("checking is {}, expected -1, 0 or 1", o.checking));
  return {};
}

}  // namespace

Result<CommunicatorSetup> setup_from(const purlin_comm_options* options) {
  if (options == nullptr) return bad("options is null");
  PURLIN_RETURN_IF_ERROR(check(*options));
  CommunicatorSetup setup;
  setup.options = *options;
  setup.name = options->name != nullptr ? options->name : next_name();
  setup.rank = options->rank;
  setup.nranks = options->nranks;
  std::optional<LauncherEnvironment> launcher;
  if (options->nranks == 0 || (options->unique_id == nullptr && options->nranks > 1)) {
    auto detected = detect_launcher();
    if (!detected) return detected.status();
    launcher = *std::move(detected);
    if (!launcher)
      return Status(PURLIN_INVALID_USAGE,
                    options->nranks == 0
                        ? "nranks is 0, and no launcher has set RANK and WORLD_SIZE (or OMPI_*, "
                          "SLURM_*, PMI_*); start with `purlin run -n N -- command`, or give nranks, "
                          "rank and unique_id"
                        : "unique_id is null, and no launcher's environment says where the ranks "
                          "meet; call purlin_get_unique_id on one rank and give it to all");
  }
  if (options->nranks == 0) {
    if (launcher->nranks > PURLIN_MAX_RANKS)
      return Status(PURLIN_UNSUPPORTED,
                    fmt::format("{} names {} ranks, and a communicator has at most {}",
                                launcher->source, launcher->nranks, PURLIN_MAX_RANKS));
    setup.rank = launcher->rank;
    setup.nranks = launcher->nranks;
  }
  if (options->unique_id != nullptr) {
    auto id = decode(*options->unique_id);
    if (!id) return id.status();
    auto address = address_of(*id);
    if (!address) return address.status();
    setup.address = *std::move(address);
    return setup;
  }
  if (launcher) {
    if (launcher->nranks != setup.nranks)
      return Status(PURLIN_INVALID_USAGE,
                    fmt::format("nranks is {}, but {} says {}; without a unique_id the launcher's "
                                "ranks are meant", setup.nranks, launcher->source, launcher->nranks));
    auto address = address_of(*launcher);
    if (!address) return address.status();
    setup.address = *std::move(address);
    return setup;
  }
  // One rank alone meets nobody, but takes the same way.
  auto id = make_unique_id();
  if (!id) return id.status();
  auto address = address_of(*id);
  if (!address) return address.status();
  setup.address = *std::move(address);
  return setup;
}

}  // namespace purlin
