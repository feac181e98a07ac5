// Purlin's host ranks against MPI in the same processes: both carry out the same calls on the same
// buffers, turn about. Started by mpirun; bench/runtime/communicator/open_mpi.py drives it.
//   bench_open_mpi SEED REPETITIONS BYTES...
// Rank 0 writes one JSON line for each collective and size: the microseconds of one call, the
// slowest rank's mean over a block of calls, once for each repetition. Every block has fresh random
// inputs, and its last result is compared with the right one on every rank.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "purlin/purlin.h"

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Whole numbers so small that sums are exact in whatever order they are added.
float input_of(uint64_t block, int rank, uint64_t i) {
  const uint64_t h = mix(block * 64 + static_cast<uint64_t>(rank) + mix(i));
  return static_cast<float>(static_cast<int>(h % 2048) - 1024);
}

enum class Library { kPurlin, kMpi };

class Bench {
 public:
  Bench(int rank, int nranks, purlin_comm_t comm, uint64_t seed)
      : rank_(rank), nranks_(nranks), comm_(comm), block_(seed << 20) {}

  void measure(purlin_collective collective, uint64_t bytes, int repetitions) {
    collective_ = collective;
    const uint64_t n = static_cast<uint64_t>(nranks_);
    count_ = collective == PURLIN_ALL_REDUCE ? bytes / 4 : bytes / 4 / n;
    out_count_ = collective == PURLIN_ALL_REDUCE ? count_ : count_ * n;
    if (count_ == 0) return;  // less than an element of each rank
    in_.resize(count_);
    out_.resize(out_count_);
    std::vector<double> purlin, mpi;
    const uint64_t calls = calls_for_a_block();
    for (int i = 0; i < repetitions; ++i) {
      for (const bool first : {true, false}) {
        const bool ours = first == (i % 2 == 0);
        (ours ? purlin : mpi).push_back(time_block(ours ? Library::kPurlin : Library::kMpi, calls));
      }
    }
    if (rank_ == 0) report(out_count_ * 4, calls, purlin, mpi);
  }

 private:
  void call(Library library) {
    float* in = in_.data();
    float* out = out_.data();
    const int count = static_cast<int>(count_);
    int error = 0;
    if (library == Library::kMpi)
      error = collective_ == PURLIN_ALL_REDUCE
                  ? MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD)
                  : MPI_Allgather(in, count, MPI_FLOAT, out, count, MPI_FLOAT, MPI_COMM_WORLD);
    else
      error = collective_ == PURLIN_ALL_REDUCE
                  ? purlin_all_reduce(in, out, count_, PURLIN_F32, PURLIN_SUM, comm_, nullptr)
                  : purlin_all_gather(in, out, count_, PURLIN_F32, comm_, nullptr);
    if (error != 0) fail(library == Library::kMpi ? "an MPI call failed" : purlin_last_error());
  }

  // So many that a block takes some milliseconds; the same on all ranks.
  uint64_t calls_for_a_block() {
    double slowest = 0;
    for (const Library library : {Library::kPurlin, Library::kMpi})
      slowest = std::max(slowest, time_calls(library, 5));
    return static_cast<uint64_t>(std::clamp(4000.0 / slowest, 3.0, 5000.0));
  }

  // Microseconds of one call: the slowest rank's.
  double time_calls(Library library, uint64_t calls) {
    for (uint64_t i = 0; i < 1 + calls / 10; ++i) call(library);
    MPI_Barrier(MPI_COMM_WORLD);
    const auto begin = Clock::now();
    for (uint64_t i = 0; i < calls; ++i) call(library);
    double mine = std::chrono::duration<double, std::micro>(Clock::now() - begin).count() /
                  static_cast<double>(calls);
    double slowest = 0;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
  }

  double time_block(Library library, uint64_t calls) {
    ++block_;
    for (uint64_t i = 0; i < count_; ++i) in_[i] = input_of(block_, rank_, i);
    std::memset(out_.data(), 0xff, out_count_ * 4);
    const double time = time_calls(library, calls);
    for (uint64_t i = 0; i < out_count_; ++i) check(library, i);
    return time;
  }

  void check(Library library, uint64_t i) const {
    float right = 0;
    if (collective_ == PURLIN_ALL_REDUCE)
      for (int r = 0; r < nranks_; ++r) right += input_of(block_, r, i);
    else
      right = input_of(block_, static_cast<int>(i / count_), i % count_);
    if (out_[i] == right) return;
    fail(std::string(library == Library::kMpi ? "MPI" : "Purlin") + ": element " +
         std::to_string(i) + " is " + std::to_string(out_[i]) + ", not " + std::to_string(right));
  }

  void report(uint64_t bytes, uint64_t calls, const std::vector<double>& purlin,
              const std::vector<double>& mpi) const {
    const auto list = [](const std::vector<double>& values) {
      std::string text;
      for (const double v : values) text += (text.empty() ? "" : ", ") + std::to_string(v);
      return "[" + text + "]";
    };
    std::printf(
        "{\"collective\": \"%s\", \"ranks\": %d, \"bytes\": %llu, \"calls\": %llu, "
        "\"purlin_us\": %s, \"mpi_us\": %s}\n",
        collective_ == PURLIN_ALL_REDUCE ? "all_reduce" : "all_gather", nranks_,
        static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(calls),
        list(purlin).c_str(), list(mpi).c_str());
    std::fflush(stdout);
  }

  const int rank_, nranks_;
  const purlin_comm_t comm_;
  uint64_t block_;  // number of the block, from which its inputs follow
  purlin_collective collective_ = PURLIN_ALL_REDUCE;
  uint64_t count_ = 0, out_count_ = 0;
  std::vector<float> in_, out_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, nranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &nranks);
  if (argc < 4) fail("usage: bench_open_mpi SEED REPETITIONS BYTES...");
  purlin_unique_id id{};
  if (rank == 0 && purlin_get_unique_id(&id) != PURLIN_OK) fail(purlin_last_error());
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
  purlin_comm_options options = PURLIN_COMM_OPTIONS_INIT;
  options.unique_id = &id;
  options.rank = rank;
  options.nranks = nranks;
  options.device_kind = PURLIN_DEVICE_HOST;
  options.timeout_ms = 300'000;
  options.name = "bench";
  purlin_comm_t comm = nullptr;
  if (purlin_comm_create(&comm, &options) != PURLIN_OK) fail(purlin_last_error());
  if (rank == 0) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(version, &length);
    std::printf("{\"purlin\": \"%s\", \"mpi\": \"%s\"}\n", purlin_version(), version);
  }
  Bench bench(rank, nranks, comm, std::strtoull(argv[1], nullptr, 10));
  for (const purlin_collective collective : {PURLIN_ALL_REDUCE, PURLIN_ALL_GATHER})
    for (int i = 3; i < argc; ++i)
      bench.measure(collective, std::strtoull(argv[i], nullptr, 10), std::atoi(argv[2]));
  if (purlin_comm_destroy(comm) != PURLIN_OK) fail(purlin_last_error());
  MPI_Finalize();
  return 0;
}
