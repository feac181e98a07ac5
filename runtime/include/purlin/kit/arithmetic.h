/* purlin/kit/arithmetic.h: the only place of the kit that spells a floating-point operation.
 *
 * Each operation rounds once, to nearest even, keeps subnormals and is never contracted. On a GPU
 * the intrinsics say so whatever the flags of the author's build; on the host the file that
 * includes this must be built with -ffp-contract=off and run with rounding to nearest and no flush
 * to zero.
 */
#ifndef PURLIN_KIT_ARITHMETIC_H
#define PURLIN_KIT_ARITHMETIC_H

#include "purlin/kit/seam.h"

#if !defined(__CUDACC__)
#include <float.h>
static_assert(FLT_EVAL_METHOD == 0, "float arithmetic must not be carried out in a wider type");
#endif
#if defined(__FAST_MATH__)
#error "Purlin's arithmetic is exact by definition: build without -ffast-math"
#endif

namespace purlin::kit {

#if defined(__CUDA_ARCH__)
PURLIN_KIT float add(float a, float b) { return __fadd_rn(a, b); }
PURLIN_KIT float subtract(float a, float b) { return __fsub_rn(a, b); }
PURLIN_KIT float multiply(float a, float b) { return __fmul_rn(a, b); }
PURLIN_KIT float divide(float a, float b) { return __fdiv_rn(a, b); }
PURLIN_KIT double add(double a, double b) { return __dadd_rn(a, b); }
PURLIN_KIT double multiply(double a, double b) { return __dmul_rn(a, b); }
PURLIN_KIT double divide(double a, double b) { return __ddiv_rn(a, b); }
#else
PURLIN_KIT float add(float a, float b) { return a + b; }
PURLIN_KIT float subtract(float a, float b) { return a - b; }
PURLIN_KIT float multiply(float a, float b) { return a * b; }
PURLIN_KIT float divide(float a, float b) { return a / b; }
PURLIN_KIT double add(double a, double b) { return a + b; }
PURLIN_KIT double multiply(double a, double b) { return a * b; }
PURLIN_KIT double divide(double a, double b) { return a / b; }
#endif

}  // namespace purlin::kit

#endif  // PURLIN_KIT_ARITHMETIC_H
