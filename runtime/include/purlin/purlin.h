/* purlin/purlin.h: collective communication for the ranks of one machine. C11.
 *
 * Conventions. Counts and displacements are in elements, 64-bit. Every function that can fail
 * returns a purlin_status; purlin_last_error() then says what was asked, what was found, where, and
 * what to do. Structs start with `struct_size` (set it to sizeof the struct, see PURLIN_INIT) and
 * only ever grow. Functions are thread-safe; calls on one communicator are carried out in call order,
 * whichever thread or stream makes them.
 *
 * Ranks are threads or processes of one machine. A rank's buffers lie in host memory when its
 * communicator was created on the host device, in GPU memory otherwise. Host calls return when the
 * operation is complete; GPU calls return once it is enqueued on the stream.
 */
#ifndef PURLIN_PURLIN_H
#define PURLIN_PURLIN_H

#include "purlin/atom_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PURLIN_VERSION_MAJOR 0
#define PURLIN_VERSION_MINOR 9
#define PURLIN_VERSION_PATCH 0

#define PURLIN_API __attribute__((visibility("default")))

typedef enum purlin_status {
  PURLIN_OK = 0,
  PURLIN_INVALID_ARGUMENT = 1, /* a bad argument; nothing was done on any rank */
  PURLIN_INVALID_USAGE = 2,    /* right arguments at the wrong time */
  PURLIN_UNSUPPORTED = 3,      /* well-formed, but not offered here; the text says what is */
  PURLIN_POLICY_ERROR = 4,     /* FILE:LINE:COLUMN: … */
  PURLIN_PLUGIN_ERROR = 5,     /* no Atom can serve, or the one named cannot */
  PURLIN_OUT_OF_MEMORY = 6,
  PURLIN_SYSTEM_ERROR = 7,     /* an operating-system call failed; the text names it */
  PURLIN_CUDA_ERROR = 8,       /* a driver call failed; the text names it */
  PURLIN_LINK_ERROR = 9,       /* a device program could not be made */
  PURLIN_TIMEOUT = 10,         /* a peer did not arrive within the limit */
  PURLIN_PEER_LOST = 11,       /* a peer's process or thread is gone */
  PURLIN_MISMATCH = 12,        /* ranks disagree about the call or about the wire */
  PURLIN_ABORTED = 13,         /* somebody called purlin_comm_abort */
  PURLIN_BROKEN = 14,          /* an earlier error broke this communicator */
  PURLIN_IN_PROGRESS = 15,     /* non-blocking creation has not finished */
  PURLIN_INTERNAL = 16
} purlin_status;

#define PURLIN_INIT(type) {.struct_size = sizeof(type)}

/* Name of a status ("PURLIN_TIMEOUT"); never NULL. */
PURLIN_API const char* purlin_status_name(purlin_status status);
/* Text of this thread's last failed call; valid until the thread's next failing call. Never NULL. */
PURLIN_API const char* purlin_last_error(void);
/* One line: version, commit, compiler, CUDA toolkit, ABI versions. */
PURLIN_API const char* purlin_version(void);

/* ---- Communicators --------------------------------------------------------------------------- */

typedef struct purlin_comm* purlin_comm_t;

#define PURLIN_UNIQUE_ID_BYTES 128
/* Made by one rank, given to the others by the caller's own means. Holds an address of a rendezvous
 * socket and a random token; treat it as a secret among the ranks. */
typedef struct purlin_unique_id {
  char bytes[PURLIN_UNIQUE_ID_BYTES];
} purlin_unique_id;
PURLIN_API purlin_status purlin_get_unique_id(purlin_unique_id* out);

typedef enum purlin_device_kind {
  PURLIN_DEVICE_AUTO = 0, /* the current CUDA device if there is one, else the host */
  PURLIN_DEVICE_HOST = 1,
  PURLIN_DEVICE_CUDA = 2  /* the CUDA device current on the calling thread, or `device_ordinal` */
} purlin_device_kind;

typedef enum purlin_path {
  PURLIN_PATH_AUTO = 0,
  PURLIN_PATH_LATENCY = 1,
  PURLIN_PATH_THROUGHPUT = 2,
  PURLIN_PATH_SWITCH = 3
} purlin_path;

typedef enum purlin_reduction {
  PURLIN_REDUCTION_POLICY = 0, /* what the policy says */
  PURLIN_REDUCTION_SCORE = 1,
  PURLIN_REDUCTION_NVLS = 2,         /* preferred; SCORE where it cannot be had */
  PURLIN_REDUCTION_NVLS_REQUIRED = 3 /* an error where it cannot be had */
} purlin_reduction;

typedef struct purlin_comm_options {
  size_t struct_size;
  int nranks;                        /* 1 .. PURLIN_MAX_RANKS; 0: from the launcher's environment */
  int rank;                          /* 0 .. nranks-1; ignored when nranks is 0 */
  const purlin_unique_id* unique_id; /* NULL: from the launcher's environment */
  int device_kind;                   /* purlin_device_kind */
  int device_ordinal;                /* -1: the device current on the calling thread */
  const char* policy_path;           /* at most one of these two; NULL: found by search */
  const char* policy_text;
  unsigned cta_budget;               /* most CTAs of one launch; 0: policy's */
  unsigned timeout_ms;               /* 0: policy's (ten minutes unless it says otherwise) */
  int checking;                      /* compare calls between ranks: -1 policy's, 0 off, 1 on */
  int nonblocking;                   /* return PURLIN_IN_PROGRESS; poll purlin_comm_async_error */
  const char* name;                  /* for messages; copied; may be NULL */
} purlin_comm_options;
#define PURLIN_COMM_OPTIONS_INIT \
  {sizeof(purlin_comm_options), 0, 0, 0, PURLIN_DEVICE_AUTO, -1, 0, 0, 0u, 0u, -1, 0, 0}

/* Collective over the ranks: blocks until all have joined, bounded by the timeout. On failure *out
 * is NULL on every rank and nothing is left behind. The caller owns *out. */
PURLIN_API purlin_status purlin_comm_create(purlin_comm_t* out, const purlin_comm_options* options);
/* All ranks in this process, created by one thread. `devices` holds CUDA ordinals, NULL for host
 * ranks. options->nranks and rank are ignored. */
PURLIN_API purlin_status purlin_comm_create_all(purlin_comm_t* out, int nranks, const int* devices,
                                                const purlin_comm_options* options);
/* Collective: ranks with equal color >= 0 form a new communicator, ordered by key, then rank.
 * A negative color joins none: *out is NULL. */
PURLIN_API purlin_status purlin_comm_split(purlin_comm_t comm, int color, int key,
                                           purlin_comm_t* out);
/* Waits for own work, then frees. Not collective: peers may be gone. A second destroy of the same
 * handle returns PURLIN_INVALID_ARGUMENT. */
PURLIN_API purlin_status purlin_comm_destroy(purlin_comm_t comm);
/* Ends every running and later call of all ranks with PURLIN_ABORTED. Never blocks. From any thread. */
PURLIN_API purlin_status purlin_comm_abort(purlin_comm_t comm);
PURLIN_API purlin_status purlin_comm_rank(purlin_comm_t comm, int* rank);
PURLIN_API purlin_status purlin_comm_size(purlin_comm_t comm, int* nranks);
PURLIN_API purlin_status purlin_comm_device(purlin_comm_t comm, int* kind, int* ordinal);
/* PURLIN_OK, PURLIN_IN_PROGRESS, or the error that broke the communicator, without blocking. */
PURLIN_API purlin_status purlin_comm_async_error(purlin_comm_t comm);
/* The text of that error; valid until the communicator is destroyed. Never NULL. */
PURLIN_API const char* purlin_comm_last_error(purlin_comm_t comm);

/* ---- Calls ----------------------------------------------------------------------------------- */

typedef enum purlin_collective {
  PURLIN_ALL_GATHER = 0,
  PURLIN_REDUCE_SCATTER = 1,
  PURLIN_ALL_REDUCE = 2,
  PURLIN_ALL_TO_ALL = 3,
  PURLIN_ALL_GATHER_V = 4,
  PURLIN_REDUCE_SCATTER_V = 5,
  PURLIN_ALL_TO_ALL_V = 6,
  PURLIN_BROADCAST = 7,
  PURLIN_REDUCE = 8,
  PURLIN_SCATTER = 9,
  PURLIN_GATHER = 10,
  PURLIN_SEND_RECV = 11,
  PURLIN_BARRIER = 12,
  PURLIN_CUSTOM = 13,
  PURLIN_COLLECTIVE_COUNT = 14
} purlin_collective;

/* cudaStream_t or CUstream; ignored by host communicators. */
typedef void* purlin_stream_t;

/* A set of ranks: all, the call's root, or a bit mask. */
typedef enum purlin_rank_set_kind {
  PURLIN_RANKS_ALL = 0,
  PURLIN_RANKS_ROOT = 1,
  PURLIN_RANKS_MASK = 2
} purlin_rank_set_kind;
typedef struct purlin_rank_set {
  uint32_t kind;
  uint32_t reserved;
  uint64_t mask; /* bit r: rank r */
} purlin_rank_set;

typedef enum purlin_layout_kind {
  PURLIN_LAYOUT_PACKED = 0,    /* one region */
  PURLIN_LAYOUT_SCATTERED = 1, /* a region for each member; region p is rank p's share everywhere */
  PURLIN_LAYOUT_TRANSPOSED = 2 /* a region for each member; region p goes to, or came from, rank p */
} purlin_layout_kind;

/* Members are ranks (relative 0) or distances (relative 1: peer - self mod n). Region i of m members
 * in ascending order lies at position (i + rotate) mod m, and positions are `stride` region lengths
 * apart (0 means 1); gaps are never touched. */
typedef struct purlin_layout {
  uint32_t kind;     /* purlin_layout_kind */
  uint32_t relative; /* 0 members are ranks, 1 members are distances */
  uint64_t members;  /* bit mask; 0 means all */
  uint32_t rotate;
  uint32_t stride;
} purlin_layout;

/* One step of a transformation: `stagers` offer their input regions, `consumers` copy or reduce
 * them into their output regions. */
typedef struct purlin_step {
  purlin_layout input, output;
  uint32_t reduce; /* 0 copy, 1 reduce over the stagers in rank order */
  uint32_t reserved;
  purlin_rank_set stagers, consumers;
} purlin_step;

/* One or two steps; two are fused into one kernel. */
typedef struct purlin_transformation {
  size_t struct_size;
  const char* name; /* for messages; [a-z0-9_]{1,32} */
  uint32_t step_count;
  uint32_t reserved;
  purlin_step steps[2];
} purlin_transformation;

/* One call, complete. The functions below fill it; use it directly for per-call options.
 *
 * count, by collective, in elements of one rank:
 *   all_gather: sent. reduce_scatter: received. all_reduce, broadcast, reduce: the buffer.
 *   all_to_all, scatter, gather, custom: one region.
 * V forms: counts and displacements, arrays of nranks entries.
 *   all_gather_v: send_counts[rank] elements are sent; recv_counts/recv_displs say where part p goes.
 *   reduce_scatter_v: send_counts/send_displs say where share p lies; recv_counts is not read.
 *   all_to_all_v: all four. Displacements may be NULL: parts then follow one another.
 * With counts_on_device the arrays lie in device memory and are read by the kernel (host ranks: in any
 * memory, read when the call runs, in a group by its end); bound_part and bound_total (elements) then
 * decide path, grid and staging and, but for all_to_all_v, are the same on all ranks. A count above the
 * bound breaks the communicator with an error, and nothing is written outside. */
typedef struct purlin_call {
  size_t struct_size;
  int collective; /* purlin_collective */
  int dtype;      /* purlin_dtype */
  int op;         /* purlin_op, reductions only */
  int root;       /* rooted collectives only */
  const void* send;
  void* recv;
  uint64_t count;
  const uint64_t* send_counts;
  const uint64_t* send_displs;
  const uint64_t* recv_counts;
  const uint64_t* recv_displs;
  int counts_on_device;
  uint64_t bound_part, bound_total;
  const void* scalar; /* PURLIN_PREMUL_SUM: one value of the accumulation type, host memory */
  const purlin_transformation* transformation; /* PURLIN_CUSTOM */
  int path;            /* purlin_path; anything but AUTO forces it or fails */
  int reduction;       /* purlin_reduction */
  unsigned cta_budget; /* 0: the communicator's */
} purlin_call;
PURLIN_API purlin_status purlin_run(const purlin_call* call, purlin_comm_t comm,
                                    purlin_stream_t stream);

PURLIN_API purlin_status purlin_all_gather(const void* send, void* recv, uint64_t send_count,
                                           purlin_dtype dtype, purlin_comm_t comm,
                                           purlin_stream_t stream);
PURLIN_API purlin_status purlin_reduce_scatter(const void* send, void* recv, uint64_t recv_count,
                                               purlin_dtype dtype, purlin_op op, purlin_comm_t comm,
                                               purlin_stream_t stream);
PURLIN_API purlin_status purlin_all_reduce(const void* send, void* recv, uint64_t count,
                                           purlin_dtype dtype, purlin_op op, purlin_comm_t comm,
                                           purlin_stream_t stream);
PURLIN_API purlin_status purlin_all_to_all(const void* send, void* recv, uint64_t count,
                                           purlin_dtype dtype, purlin_comm_t comm,
                                           purlin_stream_t stream);
PURLIN_API purlin_status purlin_all_gather_v(const void* send, uint64_t send_count, void* recv,
                                             const uint64_t* recv_counts,
                                             const uint64_t* recv_displs, purlin_dtype dtype,
                                             purlin_comm_t comm, purlin_stream_t stream);
PURLIN_API purlin_status purlin_reduce_scatter_v(const void* send, const uint64_t* send_counts,
                                                 const uint64_t* send_displs, void* recv,
                                                 purlin_dtype dtype, purlin_op op,
                                                 purlin_comm_t comm, purlin_stream_t stream);
PURLIN_API purlin_status purlin_all_to_all_v(const void* send, const uint64_t* send_counts,
                                             const uint64_t* send_displs, void* recv,
                                             const uint64_t* recv_counts,
                                             const uint64_t* recv_displs, purlin_dtype dtype,
                                             purlin_comm_t comm, purlin_stream_t stream);
PURLIN_API purlin_status purlin_broadcast(const void* send, void* recv, uint64_t count,
                                          purlin_dtype dtype, int root, purlin_comm_t comm,
                                          purlin_stream_t stream);
PURLIN_API purlin_status purlin_reduce(const void* send, void* recv, uint64_t count,
                                       purlin_dtype dtype, purlin_op op, int root,
                                       purlin_comm_t comm, purlin_stream_t stream);
PURLIN_API purlin_status purlin_scatter(const void* send, void* recv, uint64_t count,
                                        purlin_dtype dtype, int root, purlin_comm_t comm,
                                        purlin_stream_t stream);
PURLIN_API purlin_status purlin_gather(const void* send, void* recv, uint64_t count,
                                       purlin_dtype dtype, int root, purlin_comm_t comm,
                                       purlin_stream_t stream);
PURLIN_API purlin_status purlin_barrier(purlin_comm_t comm, purlin_stream_t stream);
/* Point to point. Every send has a receive of the same count and dtype, also of 0 elements; messages of one
 * pair keep their order. Outside a group each is complete on its own: a receive when the data is there, a
 * send when it may be overwritten, which a large one may be only once it is being received. Inside a group
 * all start together, so any order of calls will do. A rank's messages to itself need one for both ends. */
PURLIN_API purlin_status purlin_send(const void* send, uint64_t count, purlin_dtype dtype, int peer,
                                     purlin_comm_t comm, purlin_stream_t stream);
PURLIN_API purlin_status purlin_recv(void* recv, uint64_t count, purlin_dtype dtype, int peer,
                                     purlin_comm_t comm, purlin_stream_t stream);

/* Calls between start and end, of any communicators of this thread, are launched together by the outermost
 * end: of each communicator first the messages, then the collectives in call order. No call may use what
 * another one of the group writes, but messages issued after the end of an inner group may send what those
 * before it receive. n broadcasts from, or reduces to, every rank once are carried out as one call
 * (docs/protocol.md). Nestable. An error inside is reported by its call and again by the end. */
PURLIN_API purlin_status purlin_group_start(void);
PURLIN_API purlin_status purlin_group_end(void);

/* One rank by itself, for tools that serialize or replay launches (docs/perf.md). `everyone`, one call for each
 * rank with buffers in host memory, is carried out there, and what the peers wrote is put where this rank looks
 * for it; NULL: it is there from an earlier such call; that can be captured. PURLIN_INVALID_USAGE: with any other
 * call on `comm`. PURLIN_UNSUPPORTED: switch, registered buffers, counts on the device, staging used twice. */
PURLIN_API purlin_status purlin_run_alone(const purlin_call* call, const purlin_call* everyone,
                                          purlin_comm_t comm, purlin_stream_t stream);

/* ---- Memory and preparation ------------------------------------------------------------------ */

/* Memory on the communicator-less current device that peers can map; needed for zero-copy. */
PURLIN_API purlin_status purlin_mem_alloc(void** out, uint64_t bytes);
PURLIN_API purlin_status purlin_mem_free(void* memory);
/* Collective: makes [buffer, buffer + bytes) of every rank reachable for its peers, so that they read input
 * that lies in it where it is, and output that they pass on, instead of having it staged. What cannot be
 * shared is staged as before: no error. Host ranks share among the threads of a process. Deregistering waits
 * for own calls, not for peers: every rank does it between the same two calls, before the buffer is freed.
 * Plain GPU memory that other processes map is freed once all ranks have deregistered; after an error or an
 * abort any buffer is, once all ranks' calls have returned (on GPUs: their streams are synchronized). */
typedef struct purlin_registration* purlin_registration_t;
PURLIN_API purlin_status purlin_comm_register(purlin_comm_t comm, void* buffer, uint64_t bytes,
                                              purlin_registration_t* out);
PURLIN_API purlin_status purlin_comm_deregister(purlin_comm_t comm, purlin_registration_t handle);
/* Makes the programs that `calls` need, so that no later call has to. */
PURLIN_API purlin_status purlin_prepare(purlin_comm_t comm, const purlin_call* calls, int call_count);

/* ---- Asking ---------------------------------------------------------------------------------- */

/* All return JSON text in *json, to be freed with purlin_free_text. */
typedef struct purlin_query {
  size_t struct_size;
  const char* policy_path; /* NULL: found by search */
  const char* policy_text;
  const char* device;      /* NULL: the one there is; "host", "sm_90" … need not be there */
  int collective;          /* purlin_explain */
  int dtype;
  int op;
  int nranks;
  uint64_t bytes;          /* T, the benchmark's size of docs/policy.md */
  int reduction;
  const purlin_transformation* transformation;
  purlin_comm_t comm; /* purlin_explain: a live communicator, or NULL */
} purlin_query;
PURLIN_API purlin_status purlin_plugins(const purlin_query* query, char** json);
PURLIN_API purlin_status purlin_explain(const purlin_query* query, char** json);
PURLIN_API void purlin_free_text(char* text);

/* Makes the device programs that a policy's communicators make when they are created, on any machine with
 * NVRTC and nvJitLink; neither the device nor a driver is needed. The folder, named in
 * PURLIN_PROGRAM_PATH, then serves machines that have no linker. `json` gets what was made, which is
 * also the folder's manifest.json; free it with purlin_free_text. PURLIN_INVALID_ARGUMENT for the host or
 * an unknown device, PURLIN_LINK_ERROR with what to install where the linker is missing. Thread-safe. */
typedef struct purlin_prelink_options {
  size_t struct_size;
  const char* device;      /* "sm_90"; need not be there */
  const char* policy_path; /* NULL: found by search for that device */
  const char* output_directory;
  int jobs; /* 0: one for each processor */
  void (*progress)(void* user, int done, int total, const char* program); /* may be NULL */
  void* user;
  int ranks; /* of the communicators, 2 to 16; 0: every number from 2 to 8 */
} purlin_prelink_options;
PURLIN_API purlin_status purlin_prelink(const purlin_prelink_options* options, char** json);

/* ---- Direct use ------------------------------------------------------------------------------ */

/* An application's own kernels, linked with the Atom that serves a device (purlin/device.cuh). Zeros
 * and nulls leave the choice to the policy and the Atom. */
typedef struct purlin_kernel_request {
  size_t struct_size;
  const char* device;      /* "sm_90"; need not be there */
  const char* policy_path; /* NULL: found by search for that device */
  const char* atom;        /* NULL: the one that the policy chooses */
  const struct purlin_atom_image* images; /* of the kernels; the one that fits the device best is taken */
  uint64_t image_count;
  const char* const* kernels; /* names that the program must have */
  uint64_t kernel_count;
  int reduces;             /* 0: segments copy; otherwise they combine dtype with op */
  int dtype;
  int op;
  uint32_t nranks;         /* the constant nranks: 1 to 16; what PURLIN_AVG divides by */
  uint32_t stages;         /* of the Atom's pipeline */
  uint32_t stage_bytes;
  uint32_t threads;        /* of a CTA */
} purlin_kernel_request;

/* A finished program for cuModuleLoadData or cuLibraryLoadData, and how to launch its kernels. */
typedef struct purlin_kernel {
  size_t struct_size;
  const void* cubin; /* owned by this object */
  uint64_t cubin_bytes;
  uint32_t threads;      /* of a CTA */
  uint32_t shared_bytes; /* dynamic; beyond 48 KiB the kernel's attribute must be raised */
  uint32_t stages;
  uint32_t stage_bytes;
  const char* atom; /* its name */
} purlin_kernel;

/* Made once a process and, through the disk cache, once a machine. *out is freed with
 * purlin_free_kernel. PURLIN_INVALID_ARGUMENT says which field; PURLIN_POLICY_ERROR,
 * PURLIN_PLUGIN_ERROR (no such Atom, or it cannot do this) and PURLIN_LINK_ERROR as for communicators.
 * Needs neither a device nor a driver. Thread-safe. */
PURLIN_API purlin_status purlin_link_kernel(const purlin_kernel_request* request, purlin_kernel** out);
PURLIN_API void purlin_free_kernel(purlin_kernel* kernel);

#ifdef __cplusplus
}
#endif
#endif /* PURLIN_PURLIN_H */
