// A plain stand-in for the library: ranks are threads that meet at a barrier. It can be told to go
// wrong in one way, so that a check which finds nothing shows.
#pragma once

namespace purlin::tools {

enum class Fault {
  kNone,
  kFlipBit,      // rank 1's result has one wrong bit in its last byte
  kSkipLast,     // rank 1's last byte of the result is not written
  kReverse,      // rank 1 combines the sources from the last to the first
  kTouchSend,    // rank 1's send buffer changes
  kBeyond,       // rank 1 writes one byte past its result
  kBefore,       // rank 1 writes one byte before its result
  kFillGaps,     // rank 1 writes into the gap behind part 0
  kFailRun,      // the 5th call of rank 1 fails, then everybody's does
  kFailCreate,   // rank 1 cannot join; the others are told
  kFailRegister  // rank 1 cannot register a buffer
};

// The fault of all communicators made from now on.
void set_fault(Fault fault);

// purlin_run and grouped exchanges carried out since the last set_fault, all ranks together.
int calls_made();

// Buffers registered and blocks of purlin_mem_alloc that are there now, and how many were
// registered since the last set_fault.
struct Registered {
  int now = 0, blocks = 0, ever = 0;
};
Registered registered();

}  // namespace purlin::tools
