/* purlin/device_abi.cuh: the link-time symbols that join SNAC, an Atom and a reduction fragment into
 * one device program. Each part is compiled apart to LTO-IR; nvJitLink inlines across them.
 *
 * The linker does not notice a changed signature: every name ends in the device ABI's number,
 * PURLIN_ATOM_DEVICE_ABI, and any change of a signature, of a struct or of who may call raises it. A device
 * ABI may only gain constants and symbols that SNAC gives: an Atom that asks for one that is not there
 * does not link, and the next Atom is taken.
 *
 * Each part also defines a global with that number, `const unsigned` and `extern "C"`, which survives into
 * the linked program and is compared there: purlin_device_abi_snac, purlin_device_abi_atom (the kit's
 * symbols_device.cuh has it), purlin_device_abi_reduction.
 *
 * A warp is 32 lanes. Hardware with others is another purlin_atom_kind, not another Atom of this one.
 */
#ifndef PURLIN_DEVICE_ABI_CUH
#define PURLIN_DEVICE_ABI_CUH

#include "purlin/atom_abi.h"
#include "purlin/kit/words.h"

/* Most sources or destinations of one segment in device code; loops over ranks are unrolled to it. An
 * Atom's limits say no more than it was compiled with. */
#define PURLIN_DEVICE_MAX_RANKS 16

extern "C" {

/* ---- Constants, made at bind time ---------------------------------------------------------- */

__device__ unsigned long long purlin_constant_nranks_d2();
__device__ unsigned long long purlin_constant_dtype_d2();
__device__ unsigned long long purlin_constant_op_d2();
__device__ unsigned long long purlin_constant_stages_d2();
__device__ unsigned long long purlin_constant_stage_bytes_d2();
__device__ unsigned long long purlin_constant_threads_d2();

/* ---- Given by SNAC, called by an Atom ------------------------------------------------------- */

/* Pure function of the index; false past the end. Any thread, any number of times. */
__device__ bool purlin_snac_segment_d2(void* snac, unsigned long long index, purlin_segment* out);
/* Bounded wait before the first byte of segment `index` is read or written: true go on, false stop.
 * Called once for each segment, in order, by all 32 lanes of one warp together, converged, which hold no
 * barrier: SNAC waits for several peers side by side, a lane each. All lanes get the same answer, and
 * what any lane acquired is visible to all of them. Which warp is the Atom's choice; it may be the one
 * that calls done. */
__device__ bool purlin_snac_ready_d2(void* snac, unsigned long long index);
/* The segment's last byte is visible to whoever acquires what SNAC signals here. Once for each
 * segment, in order, by all 32 lanes of one warp together, converged; it may lag, but never while the
 * store side blocks. The stores must be visible to the calling warp, whoever made them. */
__device__ void purlin_snac_done_d2(void* snac, unsigned long long index);
/* The factor of PURLIN_CONSUME_SCALE, in the accumulation type. */
__device__ unsigned long long purlin_snac_scalar_d2(void* snac);
/* Sources of every segment of this program that reduces, 0 if none does. A constant once linked. */
__device__ unsigned purlin_snac_sources_d2(void* snac);

/* ---- Given by an Atom, called by SNAC ------------------------------------------------------- */

/* Moves all segments, one after the other, through one pipeline that never drains between them.
 * Called by all threads of the group. */
__device__ void purlin_atom_run_d2(const purlin_group* group, void* snac);
/* One 16-byte access each, relaxed, system scope. read returns the tag. */
__device__ void purlin_atom_send_packet_d2(purlin_packet* slot, unsigned long long payload,
                                           unsigned long long tag);
__device__ unsigned long long purlin_atom_read_packet_d2(const purlin_packet* slot,
                                                         unsigned long long* payload);
/* Release store and acquire load of a 64-bit flag, system scope. */
__device__ void purlin_atom_signal_d2(unsigned long long* flag, unsigned long long value);
__device__ unsigned long long purlin_atom_observe_d2(const unsigned long long* flag);

/* ---- Given by the reduction fragment of one dtype ------------------------------------------- */

/* words.h has the two types: the bytes as they lie in memory, aligned to their size.
 * Sources 0 .. n-1 in order, 1 <= n <= PURLIN_DEVICE_MAX_RANKS, combined with the constant op and, for
 * an average, the constant nranks. Arguments live in registers once inlined. */
__device__ void purlin_reduce16_d2(const purlin::kit::Words16* sources, unsigned n,
                                   purlin::kit::Words16* out);
__device__ void purlin_reduce8_d2(const purlin::kit::Words8* sources, unsigned n,
                                  purlin::kit::Words8* out);
__device__ void purlin_scale16_d2(unsigned long long scalar, purlin::kit::Words16* words);
__device__ void purlin_scale8_d2(unsigned long long scalar, purlin::kit::Words8* words);
}

#endif /* PURLIN_DEVICE_ABI_CUH */
