#include "communicator/prepare.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "communicator/element.h"
#include "program/protocol_program.h"
#include "snac/host_direct.h"

namespace purlin {
namespace {

using snac::CallParams;
using snac::Transformation;

// Identifies everything about a call that ranks must agree on and that is not a pair's bytes.
uint64_t hash_call(const CallFacts& facts, uint64_t descriptor, const Transformation& t) {
  uint64_t hash = snac::mix(0x5055524c494eull, descriptor);
  if (facts.collective == snac::Collective::kCustom) {
    for (uint32_t i = 0; i < t.step_count; ++i) {
      const snac::Step& step = t.steps[i];
      for (const snac::Layout* layout : {&step.input, &step.output}) {
        hash = snac::mix(hash, static_cast<uint64_t>(layout->kind) | uint64_t{layout->relative} << 8 |
                                   uint64_t{layout->rotate} << 32);
        hash = snac::mix(hash, layout->members);
        hash = snac::mix(hash, layout->stride);
      }
      hash = snac::mix(hash, static_cast<uint64_t>(step.consume));
      for (const snac::RankSet* set : {&step.stagers, &step.consumers})
        hash = snac::mix(snac::mix(hash, static_cast<uint64_t>(set->kind)), set->mask);
    }
  }
  return hash == 0 ? 1 : hash;  // 0 says that checking is off
}

uint64_t count_for_descriptor(const CallFacts& facts) {
  switch (facts.collective) {
    case snac::Collective::kAllGatherV:
    case snac::Collective::kReduceScatterV:
      // The parts are compared pair by pair; a bound decides the path, so it must be one bound.
      return facts.call->counts_on_device != 0 ? facts.call->bound_total : 0;
    case snac::Collective::kAllToAllV:
      return 0;  // pairs compare their own bytes
    default:
      return facts.sizes.count;
  }
}

uint32_t root_of(const CallFacts& facts) {
  return facts.rooted ? static_cast<uint32_t>(facts.call->root) : 0;
}

void set_identity(const CallFacts& facts, const WireFacts& wire, Launch* launch) {
  CallParams& p = launch->params;
  p.descriptor = describe(facts);
  p.timeout_ns = wire.timeout_ns;
  p.exchange_in_place = facts.in_place && facts.collective == snac::Collective::kAllToAll;
}

// Bytes from `recv` on that are the call's output; 0 where it may have gaps.
uint64_t output_bytes(const CallFacts& facts, uint32_t nranks) {
  switch (facts.collective) {
    case snac::Collective::kAllReduce:
    case snac::Collective::kAllGather:
    case snac::Collective::kAllToAll:
    case snac::Collective::kBroadcast:
      return facts.total_bytes;
    case snac::Collective::kReduceScatter:
    case snac::Collective::kScatter:
      return facts.total_bytes / nranks;
    default:
      return 0;
  }
}

bool is_switched(const policy::Choice& choice) { return choice.path.value == PURLIN_PATH_SWITCH; }

uint32_t or_default(uint32_t value, uint32_t otherwise) { return value != 0 ? value : otherwise; }

void set_constants(const CallFacts& facts, const policy::Choice& choice, const WireFacts& wire,
                   Launch* launch) {
  const purlin_call& call = *facts.call;
  purlin_constants& c = launch->constants;
  c = purlin_constants{};
  c.struct_size = sizeof c;
  c.nranks = launch->params.nranks;
  c.dtype = uint32_t{PURLIN_U8};
  c.op = uint32_t{PURLIN_SUM};
  // The policy's pipeline is for the bound Atom; the switch's has its own.
  if (is_switched(choice)) set_pipeline({}, *wire.switch_limits, &c);
  else set_pipeline(choice, *wire.limits, &c);
  c.output_bytes = output_bytes(facts, launch->params.nranks);
  launch->params.scaled = 0;
  launch->params.dtype = static_cast<uint32_t>(call.dtype);
  launch->params.op = static_cast<uint32_t>(call.op);
  if (!facts.reduces) return;
  c.dtype = static_cast<uint32_t>(call.dtype);
  c.op = call.op == PURLIN_PREMUL_SUM ? uint32_t{PURLIN_SUM} : static_cast<uint32_t>(call.op);
  if (call.op == PURLIN_PREMUL_SUM) {
    launch->params.scaled = 1;
    std::memcpy(&c.scalar, call.scalar, accumulator_bytes(call.dtype));
    launch->params.scalar = c.scalar;
  }
}

// Bytes of a chunk, from what every rank knows of the call. The parts of an all_to_all_v are known to
// two ranks each, so they do not count.
uint64_t chunk_bytes(const CallFacts& facts, const policy::Choice& choice, const WireFacts& wire,
                     uint32_t nranks) {
  constexpr uint64_t kLeast = 8 * 1024;
  if (wire.least_chunks <= 1 || facts.collective == snac::Collective::kAllToAllV)
    return choice.chunk.value;
  const uint64_t pair =
      facts.largest_part != 0 ? facts.largest_part : snac::divide_up(facts.total_bytes, nranks);
  uint64_t chunk = kLeast;
  while (chunk < choice.chunk.value && chunk * wire.least_chunks < pair) chunk *= 2;
  return std::min(chunk, choice.chunk.value);
}

// What a kernel needs to work out the flows of a V form from counts that the host cannot read. What the
// host sizes a launch by are the bounds.
void list_flows(const CallFacts& facts, const Transformation& t, const snac::Shapes& shapes,
                uint64_t call_hash, CallParams* p) {
  const purlin_call& call = *facts.call;
  snac::ListedCall& listed = p->listed;
  listed.input_packed = t.steps[0].input.kind == snac::LayoutKind::kPacked;
  listed.output_packed = t.steps[0].output.kind == snac::LayoutKind::kPacked;
  listed.input = shapes.input;
  listed.output = shapes.output;
  listed.call_hash = call_hash;
  listed.bound_part = call.bound_part;
  listed.bound_total = call.bound_total;
  for (uint32_t peer = 0; peer < p->nranks; ++peer)
    p->send[0][peer] = p->receive[0][peer] = {0, facts.largest_part};
}

// A share that holds several regions is cut into packets only where regions end between packets.
bool packets_can_cut(const Launch& launch) {
  return !launch.form.parts || launch.params.part_bytes % 8 == 0;
}

Status set_path(const CallFacts& facts, const policy::Choice& choice, const WireFacts& wire,
                Launch* launch) {
  const purlin_call& call = *facts.call;
  CallParams& p = launch->params;
  launch->switched = is_switched(choice);
  if (launch->switched) {
    launch->packets = launch->chunks = false;
    p.pair_limit = 0;
    return {};
  }
  if (!wire.packets && call.path == PURLIN_PATH_LATENCY)
    return Status(PURLIN_UNSUPPORTED,
                  "path latency was asked for, but packets arrive whole only on one GPU and over "
                  "NVLink, and some ranks are joined otherwise; use path auto or throughput");
  const uint64_t capacity =
      wire.packets ? snac::packet_capacity(p.map, launch->transformation) : 0;
  bool packets = choice.path.value == PURLIN_PATH_LATENCY;
  if (facts.collective == snac::Collective::kAllToAllV) {
    // Each pair chooses from the bytes that both its ends know.
    launch->packets = wire.packets && call.path != PURLIN_PATH_THROUGHPUT;
    launch->chunks = true;
    p.pair_limit = !launch->packets                      ? 0
                   : call.path == PURLIN_PATH_LATENCY ? capacity
                                                         : std::min(capacity, wire.pair_limit);
    return {};
  }
  const bool listed = facts.collective == snac::Collective::kAllGatherV ||
                      facts.collective == snac::Collective::kReduceScatterV;
  const uint64_t longest =
      listed ? facts.largest_part : snac::longest_pair(launch->transformation, p);
  const bool fits = wire.packets && longest <= capacity && packets_can_cut(*launch);
  if (packets && !fits) {
    if (call.path == PURLIN_PATH_LATENCY)
      return Status(PURLIN_UNSUPPORTED,
                    fmt::format("path latency was asked for, but {} bytes for one peer exceed the {} "
                                "bytes that its packets hold; use path auto, or raise the policy's "
                                "staging.latency_bytes", longest, capacity));
    packets = false;
  }
  launch->packets = packets;
  launch->chunks = !packets;
  p.pair_limit = packets ? ~uint64_t{0} : 0;
  return {};
}

}  // namespace

uint64_t describe(const CallFacts& facts) {
  const purlin_call& call = *facts.call;
  return snac::describe_call(facts.collective, static_cast<snac::u32>(call.dtype),
                             facts.reduces ? static_cast<snac::u32>(call.op) : 0, root_of(facts),
                             count_for_descriptor(facts));
}

void set_pipeline(const policy::Choice& choice, const purlin_atom_limits& limits,
                  purlin_constants* constants) {
  constants->stages = or_default(choice.stages.value, limits.default_stages);
  constants->stage_bytes = or_default(choice.stage_bytes.value, limits.default_stage_bytes);
  constants->threads = or_default(choice.threads.value, usual_threads(limits, constants->nranks));
}

void set_buffers(const purlin_call& call, Launch* launch) {
  launch->params.in = static_cast<const snac::u8*>(call.send);
  launch->params.out = static_cast<snac::u8*>(call.recv);
  launch->constants.output = call.recv;
}

snac::Direction direction_of(const policy::Choice& choice) {
  return choice.direction.value == policy::Direction::kPush ? snac::Direction::kPush
                                                            : snac::Direction::kPull;
}

Status prepare_launch(const CallFacts& facts, const policy::Choice& choice, const WireFacts& wire,
                      int nranks, int rank, Launch* launch) {
  CallParams& p = launch->params;
  p.nranks = static_cast<snac::u32>(nranks);
  p.rank = static_cast<snac::u32>(rank);
  launch->choice = &choice;
  const bool one_shot = facts.collective == snac::Collective::kAllReduce &&
                        choice.path.value == PURLIN_PATH_LATENCY && choice.one_shot.value;
  launch->transformation = facts.collective == snac::Collective::kCustom
                               ? facts.custom
                               : snac::transformation_of(facts.collective, one_shot);
  set_identity(facts, wire, launch);
  set_constants(facts, choice, wire, launch);
  set_buffers(*facts.call, launch);
  const Transformation& t = launch->transformation;
  const snac::Shapes shapes =
      snac::shapes_of(facts.collective, t, facts.sizes, one_shot, p.nranks, p.rank);
  const uint64_t call_hash = wire.checking ? hash_call(facts, p.descriptor, t) : 0;
  const bool listed = wire.kernels_read_counts && facts.call->counts_on_device != 0;
  if (listed) list_flows(facts, t, shapes, call_hash, &p);
  else snac::set_flows(t, shapes, root_of(facts), call_hash, &p);
  const uint64_t chunk = chunk_bytes(facts, choice, wire, p.nranks);
  launch->direct = false;
  if (is_switched(choice)) {
    p.geometry = snac::set_switch_geometry(p.nranks, p.map.switch_bytes, chunk);
    launch->form = snac::switch_form_of(t, p.nranks);
    return set_path(facts, choice, wire, launch);
  }
  const snac::Direction direction = direction_of(choice);
  p.geometry = snac::set_geometry(t, p.nranks, p.map.staging_bytes, chunk, direction, direction);
  launch->form = snac::form_of(t, p.nranks, p.geometry);
  launch->form.listed = listed;
  if (facts.collective == snac::Collective::kCustom && launch->form.reduces)
    launch->form.sources = snac::sources_of(p, launch->form.sources);
  PURLIN_RETURN_IF_ERROR(set_path(facts, choice, wire, launch));
  launch->direct = launch->chunks && wire.direct && choice.zero_copy.value &&
                   snac::can_read_direct(launch->form) &&
                   facts.total_bytes / p.nranks >= kLeastDirect && facts.total_bytes <= kMostDirect;
  launch->form.windows =
      launch->chunks && !launch->direct && wire.windows && choice.zero_copy.value;
  return {};
}

}  // namespace purlin
