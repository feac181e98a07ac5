/* purlin/kit/host_atom.h: a whole host Atom from one function, the one that copies. All else is
 * plain: one element at a time, every dtype and operation, packets and flags by the compiler's
 * atomics. An author replaces what the hardware does better and keeps the rest; the bits are the
 * product's (docs/numerics.md).
 *
 * Needs -ffp-contract=off, which purlin_add_atom gives.
 */
#ifndef PURLIN_KIT_HOST_ATOM_H
#define PURLIN_KIT_HOST_ATOM_H

#include <cfenv>
#include <cstring>
#include <utility>

#include "purlin/atom_abi.h"
#include "purlin/kit/finish.h"

namespace purlin::kit {

/* Copies between memory that does not overlap; `bytes` may be 0, addresses have any alignment. */
using CopyFunction = void (*)(void* destination, const void* source, uint64_t bytes);

/* The default floating-point environment for the length of a scope: nearest even, subnormals kept,
 * no traps. */
class DefaultEnvironment {
 public:
  DefaultEnvironment() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultEnvironment() { std::fesetenv(&saved_); }
  DefaultEnvironment(const DefaultEnvironment&) = delete;
  DefaultEnvironment& operator=(const DefaultEnvironment&) = delete;

 private:
  std::fenv_t saved_;
};

template <class T>
T load_element(const void* base, uint64_t index) {
  T value;
  std::memcpy(&value, static_cast<const unsigned char*>(base) + index * sizeof(T), sizeof(T));
  return value;
}
template <class T>
void store_element(void* base, uint64_t index, T value) {
  std::memcpy(static_cast<unsigned char*>(base) + index * sizeof(T), &value, sizeof(T));
}

/* What is done to one element of all sources: the element of every destination. */
struct ElementWork {
  const void* const* src;
  uint32_t nsrc;
  void* const* dst;
  uint32_t ndst;
  uint64_t bytes;
  uint32_t nranks;
  const void* scalar;
};
using ElementWorker = void (*)(const ElementWork&);

template <class T>
void store_everywhere(const ElementWork& work, uint64_t index, T value) {
  for (uint32_t k = 0; k < work.ndst; ++k) store_element(work.dst[k], index, value);
}

template <purlin_dtype D, purlin_op O>
void reduce_elements(const ElementWork& work) {
  const auto factor = average_factor<D>(work.nranks);
  for (uint64_t i = 0; i < work.bytes / sizeof(Storage<D>); ++i) {
    auto sum = source<D>(load_element<Storage<D>>(work.src[0], i));
    for (uint32_t r = 1; r < work.nsrc; ++r) {
      sum = combine<O>(sum, source<D>(load_element<Storage<D>>(work.src[r], i)));
    }
    store_everywhere(work, i, finish<D, O>(sum, factor));
  }
}

template <purlin_dtype D>
void scale_elements(const ElementWork& work) {
  const auto scalar = load_element<typename Dtype<D>::Accumulator>(work.scalar, 0);
  for (uint64_t i = 0; i < work.bytes / sizeof(Storage<D>); ++i) {
    store_everywhere(work, i, scale<D>(load_element<Storage<D>>(work.src[0], i), scalar));
  }
}

struct ElementWorkers {
  ElementWorker reduce[PURLIN_DTYPE_COUNT][PURLIN_OP_COUNT];
  ElementWorker scale[PURLIN_DTYPE_COUNT];
};
template <int D, int... O>
constexpr void fill_workers(ElementWorkers* workers, std::integer_sequence<int, O...>) {
  ((workers->reduce[D][O] =
        reduce_elements<static_cast<purlin_dtype>(D), static_cast<purlin_op>(O)>),
   ...);
  workers->scale[D] = scale_elements<static_cast<purlin_dtype>(D)>;
}
template <int... D>
constexpr ElementWorkers make_workers(std::integer_sequence<int, D...>) {
  ElementWorkers workers{};
  (fill_workers<D>(&workers, std::make_integer_sequence<int, PURLIN_OP_COUNT>()), ...);
  return workers;
}
inline constexpr ElementWorkers kElementWorkers =
    make_workers(std::make_integer_sequence<int, PURLIN_DTYPE_COUNT>());

/* Through a pointer that the compiler does not see through: no arithmetic leaves the environment.
 */
inline void work_in_default_environment(ElementWorker worker, const ElementWork& work) {
  const DefaultEnvironment environment;
  ElementWorker volatile opaque = worker;
  opaque(work);
}

/* The functions of purlin_host_atom, whose contracts atom_abi.h states. */
inline void host_reduce(const purlin_constants* constants, const void* const* src, uint32_t nsrc,
                        void* dst, uint64_t bytes) {
  work_in_default_environment(kElementWorkers.reduce[constants->dtype][constants->op],
                              {src, nsrc, &dst, 1, bytes, constants->nranks, nullptr});
}
inline void host_scale(uint32_t dtype, const void* src, const void* scalar, void* dst,
                       uint64_t bytes) {
  work_in_default_environment(kElementWorkers.scale[dtype], {&src, 1, &dst, 1, bytes, 1, scalar});
}

/* A source that is one of the destinations is copied from before anything is written to it. */
template <CopyFunction Copy>
void copy_segment(const purlin_segment& segment) {
  for (uint32_t k = 0; k < segment.ndst; ++k) {
    if (segment.dst[k] != segment.src[0]) Copy(segment.dst[k], segment.src[0], segment.bytes);
  }
}

template <CopyFunction Copy>
int host_run(const purlin_constants* constants, const purlin_group*, const purlin_snac_calls* calls,
             void* snac) {
  purlin_segment segment{};
  for (uint64_t i = 0; calls->segment(snac, i, &segment) != 0; ++i) {
    if (calls->ready(snac, i) != 0) return 1;
    const ElementWork work{segment.src,   segment.nsrc,      segment.dst,       segment.ndst,
                           segment.bytes, constants->nranks, &constants->scalar};
    if (segment.consume == PURLIN_CONSUME_REDUCE) {
      work_in_default_environment(kElementWorkers.reduce[constants->dtype][constants->op], work);
    } else if (segment.consume == PURLIN_CONSUME_SCALE) {
      work_in_default_environment(kElementWorkers.scale[constants->dtype], work);
    } else {
      copy_segment<Copy>(segment);
    }
    calls->done(snac, i);
  }
  return 0;
}

inline uint64_t packet_count(uint64_t bytes) { return bytes / 8 + (bytes % 8 != 0); }
inline uint64_t payload_bytes(uint64_t bytes, uint64_t packet) {
  return bytes - packet * 8 < 8 ? bytes - packet * 8 : 8;
}

inline void host_send_packets(purlin_packet* slots, const void* src, uint64_t bytes, uint64_t tag) {
  for (uint64_t i = 0; i < packet_count(bytes); ++i) {
    uint64_t payload = 0;
    std::memcpy(&payload, static_cast<const unsigned char*>(src) + i * 8, payload_bytes(bytes, i));
    __atomic_store_n(&slots[i].payload, payload, __ATOMIC_RELAXED);
    __atomic_store_n(&slots[i].tag, tag, __ATOMIC_RELEASE);
  }
}
inline uint64_t host_receive_packets(const purlin_packet* slots, void* dst, uint64_t bytes,
                                     uint64_t tag, uint64_t first) {
  uint64_t i = first;
  for (; i < packet_count(bytes); ++i) {
    if (__atomic_load_n(&slots[i].tag, __ATOMIC_ACQUIRE) != tag) return i;
    const uint64_t payload = __atomic_load_n(&slots[i].payload, __ATOMIC_RELAXED);
    std::memcpy(static_cast<unsigned char*>(dst) + i * 8, &payload, payload_bytes(bytes, i));
  }
  return i;
}

inline void host_signal(uint64_t* flag, uint64_t value) {
  __atomic_store_n(flag, value, __ATOMIC_RELEASE);
}
inline uint64_t host_observe(const uint64_t* flag) {
  return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

/* The table of an Atom that copies with `Copy`. */
template <CopyFunction Copy>
constexpr purlin_host_atom host_table() {
  purlin_host_atom table{};
  table.struct_size = sizeof table;
  table.run = host_run<Copy>;
  table.send_packets = host_send_packets;
  table.receive_packets = host_receive_packets;
  table.signal = host_signal;
  table.observe = host_observe;
  table.reduce = host_reduce;
  table.scale = host_scale;
  return table;
}

/* Every dtype and operation, any number of ranks, stages that mean nothing. */
constexpr purlin_atom_limits host_limits() {
  purlin_atom_limits limits{};
  limits.struct_size = sizeof limits;
  limits.max_sources = limits.max_destinations = PURLIN_MAX_RANKS;
  limits.min_stages = limits.default_stages = 1;
  limits.max_stages = 64;
  limits.min_stage_bytes = 256;
  limits.default_stage_bytes = 64u << 10;
  limits.max_stage_bytes = 1u << 20;
  limits.min_threads = limits.max_threads = limits.default_threads = 1;
  for (int d = 0; d < PURLIN_DTYPE_COUNT; ++d) limits.op_mask[d] = (1u << PURLIN_OP_COUNT) - 1;
  return limits;
}

/* The rest; the caller fills in name, texts, priority, limits and table. */
constexpr purlin_atom_descriptor host_descriptor() {
  purlin_atom_descriptor descriptor{};
  descriptor.struct_size = sizeof descriptor;
  descriptor.abi_major = PURLIN_ATOM_ABI_MAJOR;
  descriptor.abi_minor = PURLIN_ATOM_ABI_MINOR;
  descriptor.device_abi = PURLIN_ATOM_DEVICE_ABI;
  descriptor.kind = PURLIN_ATOM_HOST;
  descriptor.capabilities = PURLIN_CAP_COPY | PURLIN_CAP_REDUCE | PURLIN_CAP_PACKETS |
                            PURLIN_CAP_SIGNALS | PURLIN_CAP_REMOTE_STORE;
  return descriptor;
}

}  // namespace purlin::kit

#endif  // PURLIN_KIT_HOST_ATOM_H
