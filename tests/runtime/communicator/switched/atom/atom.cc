// A host Atom that stands for the switch: a multicast address is the list of its replicas, a load
// through it combines them in a shuffled order, as a switch adds in whatever order it likes, and a store
// reaches all. It reduces what atom-nvls does and, like it, nothing outside the switch. The orders are a
// sequence that follows from a seed; which load takes which of them depends on who comes first.
#include <algorithm>
#include <atomic>

#include "purlin/kit/host_atom.h"

namespace {

namespace kit = purlin::kit;

std::atomic<uint64_t> seed = 1;
std::atomic<uint64_t> loads = 0;
std::atomic<uint64_t> stores = 0;

void copy_bytes(void* destination, const void* source, uint64_t bytes) {
  std::memcpy(destination, source, bytes);
}

// SplitMix64.
uint64_t next_random() {
  static std::atomic<uint64_t> drawn = 0;
  uint64_t z = seed.load(std::memory_order_relaxed) +
               drawn.fetch_add(0x9e3779b97f4a7c15ull, std::memory_order_relaxed);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

void shuffle(const void** sources, uint32_t count) {
  for (uint32_t i = count; i > 1; --i) std::swap(sources[i - 1], sources[next_random() % i]);
}

void move(const purlin_constants& constants, purlin_segment& s) {
  if ((s.kind & PURLIN_SEGMENT_SWITCH_LOAD) != 0) {
    ++loads;
    shuffle(s.src, s.nsrc);
  }
  if ((s.kind & PURLIN_SEGMENT_SWITCH_STORE) != 0) ++stores;
  const kit::ElementWork work{s.src,   s.nsrc,           s.dst,            s.ndst,
                              s.bytes, constants.nranks, &constants.scalar};
  if (s.consume == PURLIN_CONSUME_REDUCE)
    kit::work_in_default_environment(kit::kElementWorkers.reduce[constants.dtype][constants.op], work);
  else
    kit::copy_segment<copy_bytes>(s);
}

int run(const purlin_constants* constants, const purlin_group*, const purlin_snac_calls* calls,
        void* snac) {
  purlin_segment segment{};
  for (uint64_t i = 0; calls->segment(snac, i, &segment) != 0; ++i) {
    if (calls->ready(snac, i) != 0) return 1;
    move(*constants, segment);
    calls->done(snac, i);
  }
  return 0;
}

constexpr purlin_host_atom make_table() {
  purlin_host_atom table = kit::host_table<copy_bytes>();
  table.run = run;
  return table;
}
constinit const purlin_host_atom kTable = make_table();

constexpr uint32_t kAdd = 1u << PURLIN_SUM;
constexpr uint32_t kAll = kAdd | 1u << PURLIN_MIN | 1u << PURLIN_MAX;

constexpr purlin_atom_limits make_limits() {
  purlin_atom_limits limits = kit::host_limits();
  for (uint32_t& mask : limits.op_mask) mask = 0;
  for (purlin_dtype dtype : {PURLIN_I32, PURLIN_U32, PURLIN_I64, PURLIN_U64, PURLIN_F16, PURLIN_BF16,
                             PURLIN_F8E4M3, PURLIN_F8E5M2})
    limits.op_mask[dtype] = kAll;
  limits.op_mask[PURLIN_F32] = limits.op_mask[PURLIN_F64] = kAdd;
  return limits;
}
constinit const purlin_atom_limits kLimits = make_limits();

constexpr purlin_atom_descriptor make_descriptor() {
  purlin_atom_descriptor descriptor = kit::host_descriptor();
  descriptor.name = "testswitch";
  descriptor.version = "0.9.0";
  descriptor.vendor = "the test suite";
  descriptor.description = "CPU ranks, a switch that adds in any order";
  descriptor.capabilities = (descriptor.capabilities & ~PURLIN_CAP_REDUCE) |
                            PURLIN_CAP_SWITCH_REDUCE | PURLIN_CAP_SWITCH_STORE;
  descriptor.limits = &kLimits;
  descriptor.host = &kTable;
  return descriptor;
}
constinit const purlin_atom_descriptor kDescriptor = make_descriptor();

}  // namespace

extern "C" PURLIN_ATOM_EXPORT const purlin_atom_descriptor* PURLIN_ATOM_ENTRY(void) {
  return &kDescriptor;
}

// For the tests: how often the switch has been used, and which orders it takes.
extern "C" PURLIN_ATOM_EXPORT uint64_t purlin_testswitch_loads(void) { return loads; }
extern "C" PURLIN_ATOM_EXPORT uint64_t purlin_testswitch_stores(void) { return stores; }
extern "C" PURLIN_ATOM_EXPORT void purlin_testswitch_seed(uint64_t value) { seed = value; }
