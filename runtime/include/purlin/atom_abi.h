/* purlin/atom_abi.h: the binary interface between Purlin and an Atom plugin. C11, no CUDA needed.
 *
 * An Atom moves and reduces bytes on one kind of hardware. It is a shared object that exports one
 * symbol, PURLIN_ATOM_ENTRY, a function that returns a pointer to constant data. The pointer and
 * everything it reaches stay valid until the process ends (plugins are never unloaded).
 *
 * Everything that it reaches lies in the plugin's own segments; no pointer is null unless its
 * comment says so. No C++ type, no exception, no reading of the environment and no printing crosses
 * this border.
 *
 * How the ABI grows. `struct_size` is the first member of every struct and is set by whoever fills
 * the struct; members are only ever appended; a reader ignores bytes beyond the size it knows and
 * refuses a size smaller than that of 1.0. purlin_segment and purlin_packet have no size and never
 * grow. A later minor may append members, give `reserved` ones a meaning, and add values, bits,
 * capabilities and kinds; it changes and removes none, and asks nothing more of a plugin built
 * before it. So what the ABI that a plugin names does not define is 0 in what the plugin fills:
 * `reserved` members, bits, types and operations; anything else is refused. A plugin of a newer
 * minor is taken for what the reader knows of it. An Atom is called for nothing that its limits and
 * capabilities do not declare.
 *
 * Two versions are checked apart: the host ABI (layout of these structs, PURLIN_ATOM_ABI_*) and the
 * device ABI (the link-time symbols of device_abi.cuh, PURLIN_ATOM_DEVICE_ABI), since the linker of
 * device code does not notice a changed signature. ABI_CHANGELOG.md has the promise and the
 * history.
 */
#ifndef PURLIN_ATOM_ABI_H
#define PURLIN_ATOM_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PURLIN_ATOM_ABI_MAJOR 1
#define PURLIN_ATOM_ABI_MINOR 0
#define PURLIN_ATOM_DEVICE_ABI 2

/* Name of the one exported function; carries the host ABI's major version. */
#define PURLIN_ATOM_ENTRY purlin_atom_entry_v1
#define PURLIN_ATOM_ENTRY_NAME "purlin_atom_entry_v1"

/* Most ranks of a communicator, hence most sources or destinations of a segment. */
#define PURLIN_MAX_RANKS 64

/* Element types. Values are part of the ABI, all below PURLIN_DTYPE_SLOTS; the COUNTs here and
 * below are not: they are what this header knows. */
typedef enum purlin_dtype {
  PURLIN_I8 = 0,
  PURLIN_U8 = 1,
  PURLIN_I32 = 2,
  PURLIN_U32 = 3,
  PURLIN_I64 = 4,
  PURLIN_U64 = 5,
  PURLIN_F16 = 6,
  PURLIN_F32 = 7,
  PURLIN_F64 = 8,
  PURLIN_BF16 = 9,
  PURLIN_F8E4M3 = 10,
  PURLIN_F8E5M2 = 11,
  PURLIN_DTYPE_COUNT = 12
} purlin_dtype;
#define PURLIN_DTYPE_SLOTS 32

/* Reductions. PURLIN_AVG scales the finished sum; PURLIN_PREMUL_SUM multiplies each rank's own part
 * before it becomes a source, so to an Atom's reduction it is PURLIN_SUM. Values are part of the
 * ABI, all below 32. */
typedef enum purlin_op {
  PURLIN_SUM = 0,
  PURLIN_PROD = 1,
  PURLIN_MIN = 2,
  PURLIN_MAX = 3,
  PURLIN_AVG = 4,
  PURLIN_PREMUL_SUM = 5,
  PURLIN_OP_COUNT = 6
} purlin_op;

typedef enum purlin_atom_kind {
  PURLIN_ATOM_HOST = 1, /* function table, CPU ranks */
  PURLIN_ATOM_CUDA = 2  /* device images, linked at run time */
} purlin_atom_kind;

/* What an Atom can do, a bit each. COPY, PACKETS and SIGNALS are the least that serves. */
#define PURLIN_CAP_COPY (1ull << 0)
#define PURLIN_CAP_REDUCE (1ull << 1)
#define PURLIN_CAP_PACKETS (1ull << 2)
#define PURLIN_CAP_SIGNALS (1ull << 3)
#define PURLIN_CAP_SWITCH_REDUCE (1ull << 4) /* loads that reduce in the switch (multimem) */
#define PURLIN_CAP_SWITCH_STORE (1ull << 5)  /* stores that the switch multiplies */
#define PURLIN_CAP_REMOTE_STORE (1ull << 6)  /* destinations may lie in a peer's memory (push) */

/* ---- Segments: the unit of work that SNAC hands to an Atom -------------------------------- */

/* A multicast address stands for one replica on each rank. On a GPU it is the one address src[0] or
 * dst[0]; on the host it is written out, src[0 .. nsrc-1] or dst[0 .. ndst-1] being the replicas in
 * rank order. It is a multiple of 16 and stands for whole 16-byte words: the bytes between the
 * segment's last one and the next multiple of 16 may be read and written too, and mean nothing.
 * Only Atoms that declare the capability are given such segments, and kinds to come will have
 * capabilities too. */
typedef enum purlin_segment_kind {
  PURLIN_SEGMENT_UNICAST = 0,
  PURLIN_SEGMENT_SWITCH_LOAD = 1, /* the source is multicast: its load reduces over the replicas, in
                                     whatever order */
  PURLIN_SEGMENT_SWITCH_STORE = 2, /* the destination is multicast: a store reaches all replicas */
  PURLIN_SEGMENT_SWITCH_BOTH = 3   /* both, at the same place of the replicas */
} purlin_segment_kind;

/* What becomes of a segment's sources. SCALE multiplies the one source by the program's scalar in
 * the accumulation type and rounds: a rank's own part of a pre-multiplied sum. */
#define PURLIN_CONSUME_COPY 0u
#define PURLIN_CONSUME_REDUCE 1u
#define PURLIN_CONSUME_SCALE 2u

/* `bytes` bytes from each of `nsrc` sources, combined in index order if `consume` is
 * PURLIN_CONSUME_REDUCE (else nsrc is 1), written to each of `ndst` destinations. Pointers have any
 * alignment; for a reduction every pointer is a multiple of the element size away from an aligned
 * address of its own buffer, not necessarily aligned itself. A source may equal a destination
 * exactly (in place) and otherwise never overlaps one. bytes may be 0. Not thread-shared: each
 * caller of segment brings its own. */
typedef struct purlin_segment {
  uint64_t bytes;
  uint32_t nsrc;
  uint32_t ndst;
  uint32_t consume;     /* PURLIN_CONSUME_* */
  uint32_t kind;        /* purlin_segment_kind */
  uint64_t reserved[2]; /* of kinds to come; unspecified in those above */
  const void* src[PURLIN_MAX_RANKS];
  void* dst[PURLIN_MAX_RANKS];
} purlin_segment;

/* Constants of the bound program. On a GPU the same values are link-time constants
 * (device_abi.cuh). */
typedef struct purlin_constants {
  uint32_t struct_size;
  uint32_t nranks;
  uint32_t dtype;       /* purlin_dtype; for copying programs PURLIN_U8 */
  uint32_t op;          /* purlin_op */
  uint32_t stages;      /* pipeline depth from the policy */
  uint32_t stage_bytes; /* bytes of one whole stage, shared among a segment's sources */
  uint32_t threads;     /* threads of the group */
  uint32_t reserved;
  uint64_t scalar; /* bits of PURLIN_CONSUME_SCALE's factor, in the accumulation type */
  /* Host form, hints: where the call's output lies, which the call does not read again, and the
   * memory that ranks share, where peers read what is written. 0 bytes: not said. */
  const void* output;
  uint64_t output_bytes;
  const void* shared;
  uint64_t shared_bytes;
} purlin_constants;

/* The group of threads that calls an Atom. On the host: one thread, no barriers, no shared memory.
 * On a GPU: whole warps of 32 consecutive threads of a one-dimensional CTA, not necessarily all of
 * them; the group's first thread is the first of a warp. */
typedef struct purlin_group {
  uint32_t struct_size;
  uint32_t thread;       /* this thread's index within the group, 0 .. threads-1 */
  uint32_t threads;      /* threads in the group: the constant `threads` on a GPU */
  uint32_t barrier_base; /* first of PURLIN_GROUP_BARRIERS named barriers that the group may use */
  void* shared;          /* the group's span of shared memory, a multiple of 128 */
  uint64_t shared_bytes; /* 0: not said; shared_bytes_fixed + stages * stage_bytes at least */
} purlin_group;
#define PURLIN_GROUP_BARRIERS 4

/* ---- Callbacks from an Atom's run into SNAC (host form) ------------------------------------ */

/* segment: pure function of the index; returns 0 past the end, 1 otherwise.
 * ready: before the first byte of segment i is read or written; 0 go on, nonzero stop.
 *        May block, bounded. After a stop no further ready and no done may be called.
 * done: after the last byte of segment i is visible to whoever acquires what SNAC signals.
 * Segments are walked in index order; every segment, also one of 0 bytes, gets ready then done. */
typedef struct purlin_snac_calls {
  uint32_t struct_size;
  uint32_t reserved;
  int (*segment)(void* snac, uint64_t index, purlin_segment* out);
  int (*ready)(void* snac, uint64_t index);
  void (*done)(void* snac, uint64_t index);
} purlin_snac_calls;

/* ---- The function table of a host Atom ------------------------------------------------------ */

/* One 16-byte packet: 8 payload bytes and a 64-bit tag. Packet memory is 16-byte aligned. */
typedef struct purlin_packet {
  uint64_t payload;
  uint64_t tag;
} purlin_packet;

/* No function is null, also of an Atom that lacks the capability for it. All are thread-safe for
 * distinct memory, never block (but for run, through ready), never throw. The caller's
 * floating-point environment is restored on return; inside, rounding is to nearest even with
 * subnormals kept, whatever the caller had set. */
typedef struct purlin_host_atom {
  uint32_t struct_size;
  uint32_t reserved;

  /* Walks segments 0, 1, 2 … until segment() returns 0 or ready() says stop. Returns 0 at the end,
   * 1 after a stop. */
  int (*run)(const purlin_constants* constants, const purlin_group* group,
             const purlin_snac_calls* calls, void* snac);

  /* Writes ceil(bytes/8) packets with payload from `src` (any alignment; the last payload is padded
   * with zero bytes) and the given tag. For each packet: payload relaxed, then tag with release. */
  void (*send_packets)(purlin_packet* slots, const void* src, uint64_t bytes, uint64_t tag);

  /* Reads packets in order while their tag equals `tag` (tag with acquire, then payload) and stores
   * payload bytes to `dst` (any alignment, never beyond dst + bytes). Resumes at packet `first`;
   * returns the index of the first packet that has not arrived, ceil(bytes/8) when all have. */
  uint64_t (*receive_packets)(const purlin_packet* slots, void* dst, uint64_t bytes, uint64_t tag,
                              uint64_t first);

  /* Release store and acquire load of a 64-bit flag, system scope. */
  void (*signal)(uint64_t* flag, uint64_t value);
  uint64_t (*observe)(const uint64_t* flag);

  /* Combines `nsrc` sources of `bytes` bytes in index order (docs/numerics.md) into `dst`; dst may
   * equal one of the sources. dtype, op and, for PURLIN_AVG, nranks come from the constants. */
  void (*reduce)(const purlin_constants* constants, const void* const* src, uint32_t nsrc,
                 void* dst, uint64_t bytes);

  /* dst[i] = round(src[i] * scalar) in the accumulation type: the source of a pre-multiplied sum.
   * `scalar` points to one value of the accumulation type (f32 for f16, bf16 and fp8, else dtype).
   */
  void (*scale)(uint32_t dtype, const void* src, const void* scalar, void* dst, uint64_t bytes);
} purlin_host_atom;

/* ---- The descriptor -------------------------------------------------------------------------- */

/* Limits that a policy is checked against when it is read. */
typedef struct purlin_atom_limits {
  uint32_t struct_size;
  uint32_t max_sources;      /* sources of one reduce segment, 1 .. PURLIN_MAX_RANKS */
  uint32_t max_destinations; /* destinations of one segment */
  uint32_t min_stages, max_stages, default_stages;
  uint32_t min_stage_bytes, max_stage_bytes, default_stage_bytes;
  uint32_t min_threads, max_threads, default_threads; /* of a group, multiples of 32 on GPUs */
  uint32_t shared_bytes_fixed; /* shared memory beyond stages * stage_bytes */
  uint32_t reserved;
  uint32_t op_mask[PURLIN_DTYPE_SLOTS]; /* bit op set: this dtype can be reduced with op */
} purlin_atom_limits;

typedef enum purlin_image_kind {
  PURLIN_IMAGE_LTOIR_FATBIN = 1, /* LTO-IR inside a fatbin; the usual form */
  PURLIN_IMAGE_CUBIN = 2,        /* relocatable cubin: links as it is, is not inlined */
  PURLIN_IMAGE_PROGRAM = 3       /* a finished universal program for one architecture */
} purlin_image_kind;

/* What an image is for: the Atom's own code, or one reduction fragment for one dtype. */
typedef enum purlin_image_role {
  PURLIN_IMAGE_CORE = 1,
  PURLIN_IMAGE_REDUCTION = 2,
  PURLIN_IMAGE_UNIVERSAL = 3
} purlin_image_role;

typedef struct purlin_atom_image {
  uint32_t struct_size;
  uint32_t kind;          /* purlin_image_kind */
  uint32_t role;          /* purlin_image_role */
  uint32_t dtype;         /* purlin_dtype for PURLIN_IMAGE_REDUCTION, else 0 */
  uint32_t base;          /* architecture it was compiled for: 75, 80, 89, 90, 100 … */
  uint32_t arch_specific; /* 0 any target >= base, 'a' exactly base, 'f' base's family */
  const void* data;
  uint64_t bytes;
  const char* name;  /* for error texts */
  uint32_t compiler; /* CUDA release that compiled it, major * 1000 + minor * 10; 0 unknown */
  uint32_t reserved;
} purlin_atom_image;

/* Facts about a device, for probe. Host devices have cc_major 0. */
typedef struct purlin_device_facts {
  uint32_t struct_size;
  uint32_t kind; /* purlin_atom_kind that the device asks for */
  uint32_t cc_major, cc_minor;
  uint32_t multiprocessors;
  uint32_t shared_bytes_per_block; /* opt-in maximum */
  uint32_t nvlink;                 /* 1 if peers are joined by NVLink */
  uint32_t multicast;              /* 1 if the device supports multicast objects */
  uint64_t memory_bytes;
  const char* name;
} purlin_device_facts;

/* Reason bits of a refusing probe. */
#define PURLIN_PROBE_FITS 0u
#define PURLIN_PROBE_WRONG_KIND (1u << 0)
#define PURLIN_PROBE_TOO_OLD (1u << 1)
#define PURLIN_PROBE_LACKS_MULTICAST (1u << 2)
#define PURLIN_PROBE_LACKS_SHARED (1u << 3)
#define PURLIN_PROBE_OTHER (1u << 31)

/* Pure: no state, no environment, no output. Bits of reasons, PURLIN_PROBE_FITS if none; any other
 * bit refuses too. Writes at most reason_bytes bytes, NUL-terminated. */
typedef uint32_t (*purlin_atom_probe)(const purlin_device_facts* facts, char* reason,
                                      uint64_t reason_bytes);

typedef struct purlin_atom_descriptor {
  uint32_t struct_size;
  uint16_t abi_major, abi_minor; /* PURLIN_ATOM_ABI_* at the plugin's compile time */
  uint32_t device_abi;           /* PURLIN_ATOM_DEVICE_ABI at the plugin's compile time */
  uint32_t kind;                 /* purlin_atom_kind */
  const char* name;              /* [a-z0-9-]{1,32}, e.g. "hopper" */
  const char* version;           /* semantic version */
  const char* vendor;
  const char* description; /* one line */
  int32_t priority;        /* among Atoms of equally close architecture; higher wins */
  uint32_t architecture;   /* oldest cc it serves, e.g. 90; 0 for host Atoms */
  uint64_t capabilities;   /* PURLIN_CAP_* */
  const purlin_atom_limits* limits;
  const purlin_host_atom* host;    /* host Atoms, else NULL */
  const purlin_atom_image* images; /* CUDA Atoms, else NULL */
  uint64_t image_count;
  purlin_atom_probe probe; /* NULL: fits every device of its kind and architecture */
} purlin_atom_descriptor;

typedef const purlin_atom_descriptor* (*purlin_atom_entry_fn)(void);

#if defined(_WIN32)
#error "Purlin plugins are ELF shared objects"
#endif
#define PURLIN_ATOM_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
} /* extern "C" */
#define PURLIN_ABI_ASSERT(x) static_assert(x, #x)
#else
#define PURLIN_ABI_ASSERT(x) _Static_assert(x, #x)
#endif

/* Layouts of 1.0: what a struct holds beyond these places was appended later. */
PURLIN_ABI_ASSERT(sizeof(void*) == 8);
PURLIN_ABI_ASSERT(sizeof(purlin_packet) == 16);
PURLIN_ABI_ASSERT(offsetof(purlin_segment, src) == 40);
PURLIN_ABI_ASSERT(sizeof(purlin_segment) == 40 + 16 * PURLIN_MAX_RANKS);
PURLIN_ABI_ASSERT(offsetof(purlin_constants, shared_bytes) == 64);
PURLIN_ABI_ASSERT(offsetof(purlin_group, shared_bytes) == 24);
PURLIN_ABI_ASSERT(offsetof(purlin_snac_calls, done) == 24);
PURLIN_ABI_ASSERT(offsetof(purlin_host_atom, scale) == 56);
PURLIN_ABI_ASSERT(offsetof(purlin_atom_limits, op_mask) == 56);
PURLIN_ABI_ASSERT(offsetof(purlin_atom_image, reserved) == 52);
PURLIN_ABI_ASSERT(offsetof(purlin_device_facts, name) == 40);
PURLIN_ABI_ASSERT(offsetof(purlin_atom_descriptor, probe) == 96);

#endif /* PURLIN_ATOM_ABI_H */
