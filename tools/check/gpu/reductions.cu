// The program that reduces or scales.
#define PURLIN_CHECK_REDUCES 1
#include "tools/check/gpu/walk.cuh"
