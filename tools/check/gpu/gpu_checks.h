// Checks of a CUDA Atom's device code on this machine's GPU. Each runs in a process of its own.
#pragma once

#include <functional>

#include "tools/check/gpu/atom_on_gpu.h"
#include "tools/check/requirement.h"

namespace purlin::tools::check {

// `check` on the GPU; where the Atom cannot be tried, why not.
Finding on_gpu(const Subject& subject, const std::function<Finding(AtomOnGpu&)>& check);
// Of a fault in words, or of a program that does not link.
Finding fault_on_gpu(const AtomOnGpu& atom, std::string fault, uint64_t cases);

// walk_checks.cc
Finding check_walk_on_gpu(const Subject& subject);
Finding check_copy_on_gpu(const Subject& subject);
Finding check_stop_on_gpu(const Subject& subject);
Finding check_limits_on_gpu(const Subject& subject);

// random_checks.cc
Finding check_threads_on_gpu(const Subject& subject);
Finding check_fuzz_on_gpu(const Subject& subject);

// reduction_checks.cc
Finding check_reduce_on_gpu(const Subject& subject);
Finding check_scale_on_gpu(const Subject& subject);
Finding check_score_on_gpu(const Subject& subject);

// message_checks.cc
Finding check_packets_on_gpu(const Subject& subject);
Finding check_order_on_gpu(const Subject& subject);

// abort_check.cc
Finding check_abort_on_gpu(const Subject& subject);

}  // namespace purlin::tools::check
