// One source for many host Atoms: the kit's, with one promise broken by each macro. test.cmake
// lists the plugins, and check_test.cc the requirement by which each must fail.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "purlin/kit/host_atom.h"

namespace {

using namespace purlin;

[[maybe_unused]] void linger(int steps) {
  for (; steps > 0; --steps) __asm__ volatile("" ::: "memory");
}
[[maybe_unused]] void hang() {
  for (;;) linger(1000);
}

void copy(void* destination, const void* source, uint64_t bytes) {
#if defined(FAULT_LOSES_TAIL)
  std::memcpy(destination, source, bytes & ~uint64_t{7});
#elif defined(FAULT_OVERRUNS)
  std::memcpy(destination, source, bytes);
  if (bytes % 8 != 0) static_cast<unsigned char*>(destination)[bytes] = 0;
#elif defined(FAULT_CRASHES)
  *static_cast<volatile int*>(nullptr) = static_cast<int>(bytes);
  std::memcpy(destination, source, bytes);
#elif defined(FAULT_HANGS)
  if (bytes != 0) hang();
  std::memcpy(destination, source, bytes);
#elif defined(FAULT_SHARED_SCRATCH)
  static unsigned char scratch[1 << 20];
  std::memcpy(scratch, source, std::min<uint64_t>(bytes, sizeof scratch));
  if (bytes <= sizeof scratch) source = scratch;
  std::this_thread::yield();  // another thread may come between
  std::memcpy(destination, source, bytes);
#elif defined(FAULT_RARE_SIZE)
  std::memcpy(destination, source, bytes % 29 == 5 && bytes > 200 ? bytes - 1 : bytes);
#else
  std::memcpy(destination, source, bytes);
#endif
}

[[maybe_unused]] int run_other(const purlin_constants* constants, const purlin_group* group,
                               const purlin_snac_calls* calls, void* snac) {
  static_cast<void>(group);
  purlin_segment segment{};
  for (uint64_t i = 0; calls->segment(snac, i, &segment) != 0; ++i) {
#ifdef FAULT_SKIPS_EMPTY
    if (segment.bytes == 0) continue;
#endif
#ifdef FAULT_DONE_EARLY
    if (calls->ready(snac, i) != 0) return 1;
    calls->done(snac, i);
#elif defined(FAULT_IGNORES_STOP)
    static_cast<void>(calls->ready(snac, i));
#elif defined(FAULT_STOP_RETURNS_0)
    if (calls->ready(snac, i) != 0) return 0;
#else
    if (calls->ready(snac, i) != 0) return 1;
#endif
    const kit::ElementWork work{segment.src,   segment.nsrc,      segment.dst,       segment.ndst,
                                segment.bytes, constants->nranks, &constants->scalar};
    if (segment.consume == PURLIN_CONSUME_REDUCE) {
      kit::work_in_default_environment(kit::kElementWorkers.reduce[constants->dtype][constants->op],
                                       work);
    } else if (segment.consume == PURLIN_CONSUME_SCALE) {
#ifdef FAULT_SCALES_NOT
      kit::copy_segment<copy>(segment);
#else
      kit::work_in_default_environment(kit::kElementWorkers.scale[constants->dtype], work);
#endif
    } else {
#ifdef FAULT_ONE_DESTINATION
      segment.ndst = segment.ndst > 1 ? 1 : segment.ndst;
#endif
      kit::copy_segment<copy>(segment);
    }
#ifndef FAULT_DONE_EARLY
    calls->done(snac, i);
#endif
  }
  return 0;
}

// The kit's walk with the arithmetic of `run_reduce` in place of the kit's.
[[maybe_unused]] void run_reduce(const purlin_constants* constants, purlin_segment* segment) {
  const auto work_with = [&](const purlin_constants& c, const void* const* src, uint32_t nsrc) {
    const kit::ElementWork work{src,      nsrc,     segment->dst, segment->ndst, segment->bytes,
                                c.nranks, &c.scalar};
#ifdef FAULT_CALLERS_ROUNDING
    kit::kElementWorkers.reduce[c.dtype][c.op](work);
#else
    kit::work_in_default_environment(kit::kElementWorkers.reduce[c.dtype][c.op], work);
#endif
  };
  purlin_constants changed = *constants;
#if defined(FAULT_REVERSED)
  std::reverse(segment->src, segment->src + segment->nsrc);
  work_with(changed, segment->src, segment->nsrc);
#elif defined(FAULT_MIN_FOR_MAX)
  if (changed.op == PURLIN_MAX) changed.op = PURLIN_MIN;
  work_with(changed, segment->src, segment->nsrc);
#elif defined(FAULT_FEW_SOURCES)
  work_with(changed, segment->src, segment->nsrc > 20 ? 20 : segment->nsrc);
#elif defined(FAULT_LEAVES_ROUNDING)
  work_with(changed, segment->src, segment->nsrc);
  std::fesetround(FE_TONEAREST);
#else
  work_with(changed, segment->src, segment->nsrc);
#endif
}
[[maybe_unused]] int run_with_reduce(const purlin_constants* constants, const purlin_group*,
                                     const purlin_snac_calls* calls, void* snac) {
  purlin_segment segment{};
  for (uint64_t i = 0; calls->segment(snac, i, &segment) != 0; ++i) {
    if (calls->ready(snac, i) != 0) return 1;
    const kit::ElementWork work{segment.src,   segment.nsrc,      segment.dst,       segment.ndst,
                                segment.bytes, constants->nranks, &constants->scalar};
    if (segment.consume == PURLIN_CONSUME_REDUCE) {
      run_reduce(constants, &segment);
    } else if (segment.consume == PURLIN_CONSUME_SCALE) {
      kit::work_in_default_environment(kit::kElementWorkers.scale[constants->dtype], work);
    } else {
      kit::copy_segment<copy>(segment);
    }
    calls->done(snac, i);
  }
  return 0;
}

[[maybe_unused]] void send_unpadded(purlin_packet* slots, const void* src, uint64_t bytes,
                                    uint64_t tag) {
  kit::host_send_packets(slots, src, bytes, tag);
  if (bytes % 8 != 0) slots[bytes / 8].payload |= 0xFFull << 56;
}
[[maybe_unused]] void send_tag_first(purlin_packet* slots, const void* src, uint64_t bytes,
                                     uint64_t tag) {
  for (uint64_t i = 0; i < kit::packet_count(bytes); ++i) {
    uint64_t payload = 0;
    std::memcpy(&payload, static_cast<const unsigned char*>(src) + i * 8,
                kit::payload_bytes(bytes, i));
    __atomic_store_n(&slots[i].tag, tag, __ATOMIC_RELEASE);
    linger(3000);
    __atomic_store_n(&slots[i].payload, payload, __ATOMIC_RELEASE);
  }
}
[[maybe_unused]] uint64_t receive_any(const purlin_packet* slots, void* dst, uint64_t bytes,
                                      uint64_t, uint64_t first) {
  return kit::host_receive_packets(slots, dst, bytes, slots[0].tag, first);
}

#ifdef FAULT_CONSTRUCTOR
[[gnu::constructor]] void constructed() { FAULT_CONSTRUCTOR; }
#endif

uint32_t probe(const purlin_device_facts*, char* reason, uint64_t room) {
  static uint32_t calls = 0;
#ifdef FAULT_PROBE_CHANGES
  ++calls;
#endif
  if (room != 0) reason[0] = '\0';
  return calls % 2 == 0 ? PURLIN_PROBE_FITS : PURLIN_PROBE_OTHER;
}

#ifdef NEWER_MINOR
// What a plugin of a later minor version would be: something appended to each struct, types,
// operations, capabilities and members that this version does not have, and its sizes say so.
template <class Known>
struct Newer {
  Known known;
  uint64_t appended[4];
};
template <class Known>
constexpr Newer<Known> newer(Known known) {
  known.struct_size = sizeof(Newer<Known>);
  return {known, {1, 2, 3, 4}};
}
constexpr purlin_atom_limits make_limits() {
  purlin_atom_limits limits = kit::host_limits();
  for (uint32_t& mask : limits.op_mask) mask |= 1u << PURLIN_OP_COUNT;
  limits.reserved = 1;
  return limits;
}
constinit const Newer<purlin_atom_limits> kNewerLimits = newer(make_limits());
constexpr const purlin_atom_limits& kLimits = kNewerLimits.known;
#else
constinit const purlin_atom_limits kLimits = kit::host_limits();
#endif

constexpr purlin_host_atom make_table() {
  purlin_host_atom table = kit::host_table<copy>();
#ifdef FAULT_RUN
  table.run = FAULT_RUN;
#endif
#ifdef FAULT_SEND
  table.send_packets = FAULT_SEND;
#endif
#ifdef FAULT_RECEIVE
  table.receive_packets = FAULT_RECEIVE;
#endif
  return table;
}
#ifdef NEWER_MINOR
constexpr purlin_host_atom make_newer_table() {
  purlin_host_atom table = make_table();
  table.reserved = 1;
  return table;
}
constinit const Newer<purlin_host_atom> kNewerTable = newer(make_newer_table());
constexpr const purlin_host_atom& kTable = kNewerTable.known;
#else
constinit const purlin_host_atom kTable = make_table();
#endif

constexpr purlin_atom_descriptor make_descriptor() {
  purlin_atom_descriptor descriptor = kit::host_descriptor();
  descriptor.name = "faulty";
  descriptor.version = "1.0.0";
  descriptor.vendor = "the test suite";
  descriptor.description = "the kit's host Atom with one promise broken";
  descriptor.limits = &kLimits;
  descriptor.host = &kTable;
  descriptor.probe = probe;
#ifdef FAULT_CAPABILITIES
  descriptor.capabilities = FAULT_CAPABILITIES;
#endif
  return descriptor;
}

#ifdef NEWER_MINOR
constexpr purlin_atom_descriptor make_newer_descriptor() {
  purlin_atom_descriptor descriptor = make_descriptor();
  descriptor.abi_minor = PURLIN_ATOM_ABI_MINOR + 1;
  descriptor.capabilities |= 1ull << 40;
  return descriptor;
}
constinit const Newer<purlin_atom_descriptor> kNewer = newer(make_newer_descriptor());
constexpr const purlin_atom_descriptor* kEntry = &kNewer.known;
#else
constinit const purlin_atom_descriptor kDescriptor = make_descriptor();
constexpr const purlin_atom_descriptor* kEntry = &kDescriptor;
#endif

}  // namespace

#ifdef FAULT_EXPORTS
extern "C" PURLIN_ATOM_EXPORT int vendor_helper(void) { return 1; }
#endif

extern "C" PURLIN_ATOM_EXPORT const purlin_atom_descriptor* PURLIN_ATOM_ENTRY(void) {
  return kEntry;
}
