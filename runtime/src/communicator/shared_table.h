// Shared memory that all ranks of a communicator map.
#pragma once

#include <memory>
#include <string>

#include "memory/shared_memory.h"
#include "rendezvous/rendezvous.h"

namespace purlin {

// Collective: one file of `bytes` zeroes, made by rank 0, mapped by every rank, its descriptor closed
// again. One descriptor a rank, whether ranks are threads or not. On failure every rank gets an error.
Result<SharedMemory> share_table(const std::string& name, uint64_t bytes, Rendezvous& rendezvous);

// The same, its page table filled; ranks of one process share one mapping. So what their threads write
// and read lies at the same addresses, as the words do by which they order it.
Result<std::shared_ptr<SharedMemory>> share_mapping(const std::string& name, uint64_t bytes,
                                                    Rendezvous& rendezvous);

}  // namespace purlin
