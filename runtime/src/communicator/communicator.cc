#include "communicator/communicator.h"

#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "communicator/count_bounds.h"
#include "communicator/cuda_grid.h"
#include "communicator/device_choice.h"
#include "communicator/policy_programs.h"
#include "communicator/prepare.h"
#include "communicator/stop_report.h"
#include "communicator/switch_memory.h"
#include "communicator/wire_config.h"
#include "plugin/from_policy.h"
#include "policy/capacity.h"
#include "policy/overrides.h"
#include "policy/wire.h"

namespace purlin {
namespace {

constexpr auto kLocalCreateLimit = std::chrono::milliseconds(600'000);

// Largest size that takes the latency path.
uint64_t latency_limit(const policy::ChoiceTable& choices, purlin_collective collective) {
  uint64_t limit = 0;
  for (const auto& entry : choices.entries(collective)) {
    if (!entry.choice || entry.choice->path.value != PURLIN_PATH_LATENCY) break;
    limit = entry.up_to;
  }
  return limit;
}

}  // namespace

Result<std::unique_ptr<Communicator>> Communicator::create(const CommunicatorSetup& setup) {
  std::unique_ptr<Communicator> self(new Communicator());
  PURLIN_RETURN_IF_ERROR(self->set_up(setup));
  return self;
}

Communicator::~Communicator() {
  if (backend_) backend_->drain();
  if (rendezvous_) rendezvous_->leave();
}

Status Communicator::set_up(const CommunicatorSetup& setup) {
  name_ = setup.name;
  setup_ = setup;
  if (setup.options.policy_path != nullptr) policy_path_ = setup.options.policy_path;
  if (setup.options.policy_text != nullptr) policy_text_ = setup.options.policy_text;
  // What can fail on one rank alone is found before joining and told after it, so that no peer waits
  // for a rank that has given up.
  const Status parts = find_parts(setup);
  JoinOptions join;
  join.address = setup.address;
  join.rank = setup.rank;
  join.nranks = setup.nranks;
  join.timeout = parts.is_ok() ? policy_.policy.create_timeout.value : kLocalCreateLimit;
  join.name = name_;
  join.cancelled = setup.cancelled;
  join.stop = setup.stop;
  auto joined = Rendezvous::join(join);
  if (!joined) return parts.is_ok() ? joined.status() : parts;
  rendezvous_ = std::move(*joined);
  PURLIN_RETURN_IF_ERROR(rendezvous_->agree(parts));
  PURLIN_RETURN_IF_ERROR(agree_on_wire());
  PURLIN_RETURN_IF_ERROR(settle_switch());
  PURLIN_RETURN_IF_ERROR(make_backend());
  // Keeps what the options point to from being used after creation.
  setup_.options.unique_id = nullptr;
  setup_.options.policy_path = setup_.options.policy_text = setup_.options.name = nullptr;
  setup_.cancelled = nullptr;
  setup_.stop = nullptr;
  rendezvous_->heed(&backend_->control(rank())->stop);
  return rendezvous_->park();
}

Status Communicator::find_parts(const CommunicatorSetup& setup) {
  auto device = device_for(setup.options, setup.nranks);
  if (!device) return device.status();
  device_ = *std::move(device);
  const purlin_device_facts facts = device_ ? device_->facts() : plugin::host_device_facts();
  auto found = policy::find_policy(
      facts, policy::request_of(setup.options.policy_path, setup.options.policy_text));
  if (!found) return found.status();
  policy_ = *std::move(found);
  policy::apply_options(policy_.policy, setup.options);
  catalogue_ = plugin::discover(plugin::selection_from(policy_.policy), facts);
  auto atom = plugin::choose(catalogue_, plugin::every_collective(setup.nranks));
  if (!atom) return atom.status();
  atom_ = *std::move(atom);
  policy::Bound bound;
  bound.limits = atom_.descriptor->limits;
  bound.atom = atom_.descriptor->name;
  bound.cuda = device_ != nullptr;
  bound.shared_bytes_per_block = facts.shared_bytes_per_block;
  bound.memory_bytes = facts.memory_bytes;
  PURLIN_RETURN_IF_ERROR(policy::check_against(policy_.policy, bound, setup.nranks));
  return {};
}

Status Communicator::agree_on_wire() {
  const policy::WireFingerprint mine = policy::wire_fingerprint(policy_.policy, size());
  const std::string text = policy::serialise(mine);
  auto all = rendezvous_->all_gather_blob(std::as_bytes(std::span(text.data(), text.size())));
  if (!all) return all.status();
  Status verdict;
  for (int r = 0; r < size() && verdict.is_ok(); ++r) {
    const Blob& blob = (*all)[static_cast<size_t>(r)];
    auto theirs = policy::deserialise(
        std::string(reinterpret_cast<const char*>(blob.data()), blob.size()));
    verdict = theirs ? policy::compare(mine, rank(), *theirs, r) : theirs.status();
  }
  return rendezvous_->agree(verdict);
}

// Where a rank cannot have the switch, no rank has it. Costs nothing unless the policy asks for it,
// which all ranks know to do alike.
Status Communicator::settle_switch() {
  const policy::Policy& policy = policy_.policy;
  switch_ = find_switch(policy, catalogue_, size());
  if (size() > 1 && asks_for_switch(policy, size())) {
    const Status refused = switch_.serves() ? Status() : Status(PURLIN_UNSUPPORTED, switch_.refusal);
    Status verdict = rendezvous_->agree(refused);
    if (verdict && device_ != nullptr) {
      const uint64_t bytes = 2 * wire_config(policy, size(), true).switch_bytes;
      auto memory = SwitchMemory::create(device_, bytes, *rendezvous_);
      if (memory) switch_memory_ = std::make_shared<SwitchMemory>(*std::move(memory));
      verdict = memory.status();
    }
    if (!verdict) switch_.refuse(verdict.message());
  }
  choices_ = std::make_unique<policy::ChoiceTable>(policy, size(), switch_.for_table());
  const std::string line = rank() == 0 ? fallback_line(*choices_, name_) : "";
  if (!line.empty()) std::fputs(line.c_str(), stderr);
  return {};
}

Status Communicator::make_backend() {
  const policy::Policy& policy = policy_.policy;
  wire_.message_limit = std::min(latency_limit(*choices_, PURLIN_SEND_RECV),
                                 policy::packet_capacity(policy, PURLIN_SEND_RECV, size(), false));
  wire_.config = wire_config(policy, size(), switch_.serves(), wire_.message_limit);
  if (device_ != nullptr) wire_.config.exit_words = wire_.config.max_ctas;
  wire_.map = snac::map_wire(wire_.config);
  wire_.checking = policy.checking.value;
  wire_.limits = atom_.descriptor->limits;
  if (switch_.serves()) wire_.switch_limits = switch_.atom.descriptor->limits;
  wire_.timeout_ns = static_cast<uint64_t>(policy.wait_timeout.value.count()) * 1'000'000;
  // What packets carry of a pair in an all_to_all_v: as all_to_all would if all pairs were like it.
  wire_.pair_limit =
      latency_limit(*choices_, PURLIN_ALL_TO_ALL_V) / static_cast<uint64_t>(size());
  auto backend = backend_for(BackendOptions{wire_.config, name_, switch_.atom.descriptor,
                                            std::move(switch_memory_)});
  if (!backend) return backend.status();
  backend_ = std::move(*backend);
  backend_->prepare(&launch_.params);
  backend_->prepare_pairs(&pair_launch_.params);
  wire_.packets = backend_->packets();
  wire_.direct = backend_->unreadable().empty();
  wire_.kernels_read_counts = device_ != nullptr;
  wire_.least_chunks = backend_->least_chunks();
  if (!wire_.packets) wire_.message_limit = 0;
  return {};
}

Result<std::unique_ptr<Backend>> Communicator::backend_for(const BackendOptions& options) {
  const policy::Policy& policy = policy_.policy;
  if (device_ == nullptr)
    return make_host_backend(
        options, *atom_.descriptor->host,
        snac::HostPatience{policy.host_wait.spins.value, policy.host_wait.yields.value},
        *rendezvous_);
  CtaWish wish;
  wish.budget = policy.cta_budget.value;
  wish.throughput = most_ctas(*choices_);
  return make_cuda_backend(options, device_, *atom_.descriptor,
                           programs_of(policy, *choices_, *wire_.limits, size(), wire_.switch_limits),
                           wish,
                           *rendezvous_);
}

Status Communicator::choose_for(const CallFacts& facts, const policy::Choice** choice) {
  const purlin_call& call = *facts.call;
  const auto collective = static_cast<purlin_collective>(call.collective);
  // The pairs of an all_to_all_v choose by themselves; what its chunks share is the largest row's.
  const uint64_t bytes = collective == PURLIN_ALL_TO_ALL_V ? policy::kNoLimit : facts.total_bytes;
  if (call.path == PURLIN_PATH_AUTO && call.reduction == PURLIN_REDUCTION_POLICY &&
      call.cta_budget == 0) {
    const auto& found = choices_->at(collective, bytes);
    if (!found) return found.status();
    *choice = &*found;
    if (found->path.value != PURLIN_PATH_SWITCH ||
        switch_.refusal_of(collective, call.dtype, call.op).empty())
      return {};
  }
  policy::Query query;
  query.collective = collective;
  query.nranks = size();
  query.bytes = bytes;
  query.largest_part = facts.largest_part;
  query.path = collective == PURLIN_ALL_TO_ALL_V ? PURLIN_PATH_AUTO
                                                 : static_cast<purlin_path>(call.path);
  query.reduction = static_cast<purlin_reduction>(call.reduction);
  query.cta_budget = call.cta_budget;
  query.switch_refusal = switch_.refusal_of(collective, call.dtype, call.op);
  auto found = policy::choose(policy_.policy, query);
  if (!found) return found.status();
  forced_ = *std::move(found);
  *choice = &forced_;
  return {};
}

Result<Launch*> Communicator::prepare(const CallFacts& facts) {
  repeated_.forget();
  const policy::Choice* choice = nullptr;
  PURLIN_RETURN_IF_ERROR(choose_for(facts, &choice));
  PURLIN_RETURN_IF_ERROR(prepare_launch(facts, *choice, wire_, size(), rank(), &launch_));
  windows_.name_places(&launch_);
  return &launch_;
}

Status Communicator::run(const purlin_call& call, purlin_stream_t stream) {
  const std::lock_guard lock(call_mutex_);
  PURLIN_RETURN_IF_ERROR(tell_if_stopped());
  // On the host what repeats is worth the look: it costs as much as a small call takes.
  if (device_ == nullptr && repeated_.matches(call, size(), rank())) {
    set_buffers(call, &launch_);
    windows_.name_places(&launch_);
    const Status launched = backend_->launch(launch_);
    return launched.is_ok() ? launched : failed(launched, collective_text(call.collective));
  }
  const Result<CallFacts> facts = check_call(call, size(), rank());
  PURLIN_RETURN_IF_ERROR(carry_out(facts, {&call, stream}));
  repeated_.remember(*facts);
  return {};
}

Status Communicator::run(std::span<const Message> messages, std::span<const GroupCall> calls,
                         const FusedCall* exchange) {
  const std::lock_guard lock(call_mutex_);
  PURLIN_RETURN_IF_ERROR(tell_if_stopped());
  if (exchange != nullptr)
    PURLIN_RETURN_IF_ERROR(carry_out(exchange->facts(), {&exchange->call, messages[0].stream}));
  else if (!messages.empty())
    PURLIN_RETURN_IF_ERROR(send_and_receive(messages));
  while (!calls.empty()) {
    const auto fused = fuse_rooted(calls, size(), rank());
    PURLIN_RETURN_IF_ERROR(fused ? carry_out(fused->facts(), calls[0])
                                 : carry_out(check_call(*calls[0].call, size(), rank()), calls[0]));
    calls = calls.subspan(fused ? static_cast<size_t>(size()) : 1);
  }
  return {};
}

void Communicator::refuse() {
  const std::lock_guard lock(call_mutex_);
  backend_->refuse_next();
}

Status Communicator::tell_if_stopped() {
  if (!stopped()) return {};
  const Status status = report();
  if (!told_) {  // a peer stopped us between two calls: this is the first that our caller hears
    told_ = true;
    return status;
  }
  return Status(PURLIN_BROKEN, "this communicator broke earlier: " + status.message());
}

// An exchange that a stop ended: the stop is the reason, whatever the exchange says of it.
Status Communicator::cause_of(const Status& exchange) {
  if (exchange.is_ok() || !stopped()) return exchange;
  told_ = true;
  return report();
}

// What a rank did alone leaves it out of step with its peers.
Status Communicator::keep_company() {
  if (company_ == Company::kAlone)
    return Status(PURLIN_INVALID_USAGE,
                  fmt::format("rank {} of communicator {} has run alone, so calls with its peers are no longer "
                              "possible; create a communicator for them",
                              rank(), name_));
  company_ = Company::kTogether;
  return {};
}

Status Communicator::carry_out(const Result<CallFacts>& facts, const GroupCall& call) {
  PURLIN_RETURN_IF_ERROR(keep_company());
  if (facts && facts->call->counts_on_device != 0 && device_ == nullptr) {
    if (const auto excess = above_bound(*facts, size())) return stop_for(*excess, *facts);
  }
  const Result<Launch*> launch = facts ? prepare(*facts) : Result<Launch*>(facts.status());
  if (!launch) return failed(launch.status(), collective_text(call.call->collective));
  (*launch)->stream = call.stream;
  const Status launched = backend_->launch(**launch);
  return launched.is_ok() ? launched : failed(launched, collective_text(call.call->collective));
}

Status Communicator::send_and_receive(std::span<const Message> messages) {
  PURLIN_RETURN_IF_ERROR(keep_company());
  Status status = prepare_messages(messages, wire_, size(), rank(), &pair_launch_);
  if (status.is_ok()) status = backend_->launch_pairs(pair_launch_);
  return status.is_ok() ? status : failed(status, "messages");
}

// Whatever stopped the rank goes into the report. After any other error nothing was started here, and
// the peers must not wait for it.
Status Communicator::failed(const Status& status, const std::string& what) {
  if (status.code() == PURLIN_BROKEN) {
    told_ = true;
    return report();
  }
  backend_->refuse_next();
  return status.with_context(fmt::format("{} on rank {} of communicator {}", what, rank(), name_));
}

// Peers wait in this call already, so they have to be stopped.
Status Communicator::stop_for(const snac::CountExcess& excess, const CallFacts& facts) {
  snac::StopRecord record;
  record.kind = snac::StopKind::kCountBound;
  record.rank = record.peer = static_cast<snac::u32>(rank());
  record.expected_call = describe(facts);
  record.expected_bytes = excess.bound;
  record.found_bytes = excess.found;
  backend_->stop(record);
  told_ = true;
  return report();
}

// The first report stands.
Status Communicator::report() {
  const std::lock_guard lock(broken_mutex_);
  if (!broken_.is_ok()) return broken_;
  broken_ = report_stop(
      *backend_->control(rank()), rank(), rendezvous_->liveness().lost_rank(), name_,
      [this](int r) { return r >= 0 && r < size() ? backend_->control(r) : nullptr; },
      [this](int r) {
        return r == rank() ? fmt::format("rank {} (this one)", r)
                           : rendezvous_->liveness().describe(r);
      });
  return broken_;
}

bool Communicator::stopped() const {
  return __atomic_load_n(&backend_->control(rank())->stop, __ATOMIC_ACQUIRE) != 0;
}

Status Communicator::broken() { return stopped() ? report() : Status::ok(); }

void Communicator::abort() {
  snac::StopRecord record;
  record.kind = snac::StopKind::kAborted;
  record.rank = static_cast<snac::u32>(rank());
  backend_->stop(record);
}

}  // namespace purlin
