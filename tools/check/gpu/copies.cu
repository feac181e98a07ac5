// The program that copies, with packets and flags.
#define PURLIN_CHECK_REDUCES 0
#include "tools/check/gpu/messages.cuh"
#include "tools/check/gpu/walk.cuh"
