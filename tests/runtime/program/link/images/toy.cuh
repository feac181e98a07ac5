// The device interface of the toy programs: small twins of SNAC, an Atom and a reduction fragment.
#pragma once

#include "purlin/atom_abi.h"

#define TOY_JOIN2(a, b) a##b
#define TOY_JOIN(a, b) TOY_JOIN2(a, b)
#ifndef TOY_DEVICE_ABI
#define TOY_DEVICE_ABI PURLIN_ATOM_DEVICE_ABI
#endif
// A device function's name carries the device ABI.
#define TOY_NAME(name) TOY_JOIN(name##_d, TOY_DEVICE_ABI)

using u64 = unsigned long long;

extern "C" __device__ u64 TOY_NAME(purlin_constant_nranks)();
extern "C" __device__ u64 TOY_NAME(purlin_constant_stages)();

extern "C" __device__ void TOY_NAME(toy_move)(float* destination, const float* const* sources,
                                              u64 count);
extern "C" __device__ float TOY_NAME(toy_combine)(float accumulator, float next, float scale);
