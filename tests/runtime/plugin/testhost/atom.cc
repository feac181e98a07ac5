// A second host Atom: complete, and as plain as one can be. It walks every segment one element at a
// time, where the product's works in pieces and vectors; their bits must be the same, so that ranks
// of one communicator may mix them. Also the smallest example of a host Atom that uses the kit.
#include <cfenv>
#include <cstring>
#include <utility>

#include "purlin/atom_abi.h"
#include "purlin/kit/finish.h"

namespace {

namespace kit = purlin::kit;

// The default environment for the length of a scope: nearest even, subnormals kept, no traps.
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
T load(const void* base, uint64_t index) {
  T value;
  std::memcpy(&value, static_cast<const unsigned char*>(base) + index * sizeof(T), sizeof(T));
  return value;
}
template <class T>
void store(void* base, uint64_t index, T value) {
  std::memcpy(static_cast<unsigned char*>(base) + index * sizeof(T), &value, sizeof(T));
}

// What is done to one element of all sources: the element of every destination.
struct Work {
  const void* const* src;
  uint32_t nsrc;
  void* const* dst;
  uint32_t ndst;
  uint64_t bytes;
  uint32_t nranks;
  const void* scalar;
};
using Worker = void (*)(const Work&);

template <class T>
void store_all(const Work& work, uint64_t index, T value) {
  for (uint32_t k = 0; k < work.ndst; ++k) store(work.dst[k], index, value);
}

template <purlin_dtype D, purlin_op O>
void reduce_elements(const Work& work) {
  using Storage = kit::Storage<D>;
  const auto factor = kit::average_factor<D>(work.nranks);
  for (uint64_t i = 0; i < work.bytes / sizeof(Storage); ++i) {
    auto sum = kit::source<D, O>(load<Storage>(work.src[0], i));
    for (uint32_t r = 1; r < work.nsrc; ++r) {
      sum = kit::combine<O>(sum, kit::source<D, O>(load<Storage>(work.src[r], i)));
    }
    store_all(work, i, kit::finish<D, O>(sum, factor));
  }
}

template <purlin_dtype D>
void scale_elements(const Work& work) {
  using Storage = kit::Storage<D>;
  const auto scalar = load<typename kit::Dtype<D>::Accumulator>(work.scalar, 0);
  for (uint64_t i = 0; i < work.bytes / sizeof(Storage); ++i) {
    store_all(work, i, kit::scale<D>(load<Storage>(work.src[0], i), scalar));
  }
}

void copy_bytes(const Work& work) {
  for (uint64_t i = 0; i < work.bytes; ++i) store_all(work, i, load<unsigned char>(work.src[0], i));
}

struct Workers {
  Worker reduce[PURLIN_DTYPE_COUNT][PURLIN_OP_COUNT];
  Worker scale[PURLIN_DTYPE_COUNT];
};

template <int D, int... O>
constexpr void fill_operations(Workers* workers, std::integer_sequence<int, O...>) {
  ((workers->reduce[D][O] =
        reduce_elements<static_cast<purlin_dtype>(D), static_cast<purlin_op>(O)>),
   ...);
  workers->scale[D] = scale_elements<static_cast<purlin_dtype>(D)>;
}
template <int... D>
constexpr Workers make_workers(std::integer_sequence<int, D...>) {
  Workers workers{};
  (fill_operations<D>(&workers, std::make_integer_sequence<int, PURLIN_OP_COUNT>()), ...);
  return workers;
}
constinit const Workers kWorkers =
    make_workers(std::make_integer_sequence<int, PURLIN_DTYPE_COUNT>());

// Called through a pointer, so that no arithmetic is moved out of the environment.
void work_in_default_environment(Worker worker, const Work& work) {
  const DefaultEnvironment environment;
  worker(work);
}

void reduce(const purlin_constants* constants, const void* const* src, uint32_t nsrc, void* dst,
            uint64_t bytes) {
  work_in_default_environment(kWorkers.reduce[constants->dtype][constants->op],
                              {src, nsrc, &dst, 1, bytes, constants->nranks, nullptr});
}

void scale(uint32_t dtype, const void* src, const void* scalar, void* dst, uint64_t bytes) {
  work_in_default_environment(kWorkers.scale[dtype], {&src, 1, &dst, 1, bytes, 1, scalar});
}

Worker worker_for(const purlin_constants& constants, const purlin_segment& segment) {
  switch (segment.reduce) {
    case PURLIN_CONSUME_REDUCE:
      return kWorkers.reduce[constants.dtype][constants.op];
    case PURLIN_CONSUME_SCALE:
      return kWorkers.scale[constants.dtype];
    default:
      return copy_bytes;
  }
}

int run(const purlin_constants* constants, const purlin_group*, const purlin_snac_calls* calls,
        void* snac) {
  purlin_segment segment{};
  for (uint64_t i = 0; calls->segment(snac, i, &segment) != 0; ++i) {
    if (calls->ready(snac, i) != 0) return 1;
    work_in_default_environment(worker_for(*constants, segment),
                                {segment.src, segment.nsrc, segment.dst, segment.ndst,
                                 segment.bytes, constants->nranks, &constants->scalar});
    calls->done(snac, i);
  }
  return 0;
}

uint64_t packet_count(uint64_t bytes) { return bytes / 8 + (bytes % 8 != 0); }
uint64_t payload_bytes(uint64_t bytes, uint64_t packet) {
  return bytes - packet * 8 < 8 ? bytes - packet * 8 : 8;
}

void send_packets(purlin_packet* slots, const void* src, uint64_t bytes, uint64_t tag) {
  for (uint64_t i = 0; i < packet_count(bytes); ++i) {
    uint64_t payload = 0;
    std::memcpy(&payload, static_cast<const unsigned char*>(src) + i * 8, payload_bytes(bytes, i));
    __atomic_store_n(&slots[i].payload, payload, __ATOMIC_RELAXED);
    __atomic_store_n(&slots[i].tag, tag, __ATOMIC_RELEASE);
  }
}

uint64_t receive_packets(const purlin_packet* slots, void* dst, uint64_t bytes, uint64_t tag,
                         uint64_t first) {
  uint64_t i = first;
  for (; i < packet_count(bytes); ++i) {
    if (__atomic_load_n(&slots[i].tag, __ATOMIC_ACQUIRE) != tag) return i;
    const uint64_t payload = __atomic_load_n(&slots[i].payload, __ATOMIC_RELAXED);
    std::memcpy(static_cast<unsigned char*>(dst) + i * 8, &payload, payload_bytes(bytes, i));
  }
  return i;
}

void signal(uint64_t* flag, uint64_t value) { __atomic_store_n(flag, value, __ATOMIC_RELEASE); }
uint64_t observe(const uint64_t* flag) { return __atomic_load_n(flag, __ATOMIC_ACQUIRE); }

constexpr purlin_atom_limits make_limits() {
  purlin_atom_limits limits{};
  limits.struct_size = sizeof(limits);
  limits.max_sources = limits.max_destinations = PURLIN_MAX_RANKS;
  limits.min_stages = limits.default_stages = 1;
  limits.max_stages = 64;
  limits.min_stage_bytes = 1;
  limits.default_stage_bytes = 64u << 10;
  limits.max_stage_bytes = 1u << 30;
  limits.min_threads = limits.max_threads = limits.default_threads = 1;
  for (uint32_t& mask : limits.op_mask) mask = (1u << PURLIN_OP_COUNT) - 1;
  return limits;
}
constinit const purlin_atom_limits kLimits = make_limits();

constinit const purlin_host_atom kTable = {sizeof(purlin_host_atom),
                                           0,
                                           run,
                                           send_packets,
                                           receive_packets,
                                           signal,
                                           observe,
                                           reduce,
                                           scale};

constinit const purlin_atom_descriptor kDescriptor = {
    .struct_size = sizeof(purlin_atom_descriptor),
    .abi_major = PURLIN_ATOM_ABI_MAJOR,
    .abi_minor = PURLIN_ATOM_ABI_MINOR,
    .device_abi = PURLIN_ATOM_DEVICE_ABI,
    .kind = PURLIN_ATOM_HOST,
    .name = "testhost",
    .version = "0.9.0",
    .vendor = "the test suite",
    .description = "CPU ranks, one element at a time",
    .priority = -100,  // never serves unless it is named or alone
    .architecture = 0,
    .capabilities = PURLIN_CAP_COPY | PURLIN_CAP_REDUCE | PURLIN_CAP_PACKETS | PURLIN_CAP_SIGNALS |
                    PURLIN_CAP_REMOTE_STORE,
    .limits = &kLimits,
    .host = &kTable,
    .images = nullptr,
    .image_count = 0,
    .probe = nullptr,
};

}  // namespace

extern "C" PURLIN_ATOM_EXPORT const purlin_atom_descriptor* PURLIN_ATOM_ENTRY(void) {
  return &kDescriptor;
}
