// Every rank brings a vector of its own rank number; all leave with the sum.
#include <cstdio>
#include <vector>

#include "purlin/purlin.hpp"

int main() {
  try {
    // Who am I, and how many are we? From purlin run, mpirun, srun, torchrun or plain variables.
    purlin_comm_options options = purlin::default_options();
    options.device_kind = PURLIN_DEVICE_HOST;  // where the vectors lie; PURLIN_DEVICE_CUDA on a GPU
    purlin::Communicator comm = purlin::Communicator::create(options);

    std::vector<float> mine(1000, static_cast<float>(comm.rank()));
    std::vector<float> sum(mine.size());
    comm.all_reduce(mine, sum, PURLIN_SUM);

    std::printf("rank %d of %d: the sum is %g\n", comm.rank(), comm.size(), sum[0]);
  } catch (const purlin::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
