// Communicator::run_alone: one rank's side of a call, its peers' side written beforehand.
#include <fmt/format.h>

#include "communicator/communicator.h"
#include "communicator/rehearsal.h"
#include "plugin/from_policy.h"

namespace purlin {
namespace {

// Host ranks' Atom for any operation of `nranks` ranks, whatever device the communicator has.
Result<plugin::BoundAtom> host_atom(int nranks) {
  const policy::Policy policy = policy::built_in_policy(PURLIN_DEVICE_HOST);
  const plugin::Catalogue catalogue =
      plugin::discover(plugin::selection_from(policy), plugin::host_device_facts());
  return plugin::choose(catalogue, plugin::every_collective(nranks));
}

}  // namespace

Status Communicator::write_peers_part(std::span<const purlin_call> everyone) {
  auto atom = host_atom(size());
  if (!atom)
    return atom.status().with_context("the calls of all ranks are carried out on the host first");
  WireFacts wire = wire_;
  wire.direct = wire.kernels_read_counts = false;
  std::vector<Launch> launches(everyone.size());
  for (int r = 0; r < size(); ++r) {
    auto facts = check_call(everyone[static_cast<size_t>(r)], size(), r);
    if (!facts) return facts.status().with_context(fmt::format("the call of rank {}", r));
    Launch& launch = launches[static_cast<size_t>(r)];
    launch.params.map = launch_.params.map;
    PURLIN_RETURN_IF_ERROR(prepare_launch(*facts, *launch_.choice, wire, size(), r, &launch));
    set_pipeline({}, *atom->descriptor->limits, &launch.constants);
  }
  auto rehearsal =
      Rehearsal::carry_out(std::move(launches), *atom->descriptor->host, name_);
  if (!rehearsal) return rehearsal.status();
  for (const Rehearsal::Piece& piece : rehearsal->found_by(static_cast<uint32_t>(rank())))
    PURLIN_RETURN_IF_ERROR(
        backend_->write_block(static_cast<int>(piece.owner), piece.offset, piece.bytes));
  return {};
}

Status Communicator::run_alone(const purlin_call& call, std::span<const purlin_call> everyone,
                               purlin_stream_t stream) {
  const std::lock_guard lock(call_mutex_);
  PURLIN_RETURN_IF_ERROR(tell_if_stopped());
  if (company_ == Company::kTogether)
    return Status(
        PURLIN_INVALID_USAGE,
        fmt::format(
            "rank {} of communicator {} has made calls together with its peers and cannot go on "
            "alone; create a communicator for it",
            rank(), name_));
  if (everyone.empty() && company_ != Company::kAlone)
    return Status(
        PURLIN_INVALID_USAGE,
        "nothing was written for this rank yet; pass the calls of all ranks the first time");
  auto facts = check_call(call, size(), rank());
  if (!facts) return facts.status();
  if (call.counts_on_device != 0)
    return Status(
        PURLIN_UNSUPPORTED,
        "a rank alone needs counts in host memory, since its peers' part is worked out there; "
        "pass counts_on_device 0");
  auto launch = prepare(*facts);
  if (!launch) return launch.status();
  if (windows_.used())
    return Status(PURLIN_UNSUPPORTED,
                  "buffers were registered with this communicator, which peers read while they "
                  "run; a rank alone "
                  "needs a communicator without registrations");
  if ((*launch)->switched)
    return Status(PURLIN_UNSUPPORTED,
                  "the switch combines what all ranks store, so no rank can use it alone; ask for "
                  "another path");
  (*launch)->stream = stream;
  (*launch)->direct = false;
  (*launch)->alone = true;
  company_ = Company::kAlone;
  if (!everyone.empty()) PURLIN_RETURN_IF_ERROR(write_peers_part(everyone));
  const Status launched = backend_->launch(**launch);
  return launched.is_ok() ? launched : failed(launched, collective_text(call.collective));
}

}  // namespace purlin
