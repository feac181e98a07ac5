// Registered buffers on GPUs: every collective reads them in place, eager and replayed, on all
// ranks or some.
#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "gpu_ranks.h"
#include "level.h"
#include "reference/element.h"

using namespace purlin;
using namespace purlin::test;

namespace {

std::string policy_for(const std::string& atom, const std::string& direction) {
  return "version: 1\ndatapath: {prefer: [" + atom +
         "]}\nstaging: {latency_bytes: 256KiB, throughput_bytes: 256KiB}\ncrossover: 4KiB\n"
         "tuning: {default: {chunk: 4KiB, ctas: {stage: 3, reduce: 4, gather: 3}}, rows: "
         "[{direction: " +
         direction + "}]}\nprograms: [{kind: copy}, {kind: reduce, dtypes: [bf16, f16, f32]}]\n";
}

constexpr int kCollectives[] = {PURLIN_ALL_GATHER, PURLIN_REDUCE_SCATTER, PURLIN_ALL_REDUCE,
                                PURLIN_ALL_TO_ALL, PURLIN_BROADCAST,      PURLIN_REDUCE,
                                PURLIN_SCATTER,    PURLIN_GATHER};

// Registers, on every rank of `open`, the first half of the arena, where the buffers of calls lie,
// and on the others a piece that no call touches.
class Registered {
 public:
  Registered(const GpuRanks& ranks, uint64_t open)
      : ranks_(ranks), made_(static_cast<size_t>(ranks.size()), nullptr) {
    std::vector<std::string> said(made_.size());
    ranks_.each([&](int r) {
      const bool own = (open >> r & 1) != 0;
      constexpr uint64_t kHalf = GpuRanks::kArenaBytes / 2;
      unsigned char* const from = ranks_.arena(r).data() + (own ? 0 : kHalf);
      if (purlin_comm_register(ranks_.comm(r), from, own ? kHalf : 4096,
                               &made_[static_cast<size_t>(r)]) != PURLIN_OK)
        said[static_cast<size_t>(r)] = purlin_last_error();
    });
    for (const std::string& text : said) REQUIRE(text == "");
  }
  ~Registered() {
    ranks_.each([&](int r) {
      CHECK(purlin_comm_deregister(ranks_.comm(r), made_[static_cast<size_t>(r)]) == PURLIN_OK);
    });
  }

 private:
  const GpuRanks& ranks_;
  std::vector<purlin_registration_t> made_;
};

void run_case(const GpuRanks& ranks, Case c, std::mt19937_64& random, int replays) {
  c.n = ranks.size();
  c.root = static_cast<int>(random() % static_cast<uint64_t>(c.n));
  c.seed = random();
  const std::vector<Bytes> in = inputs_of(c);
  std::vector<std::string> said(static_cast<size_t>(c.n));
  ranks.each(
      [&](int r) { said[static_cast<size_t>(r)] = run_rank(c, r, in, ranks.carrier(r, replays)); });
  for (int r = 0; r < c.n; ++r)
    REQUIRE_MESSAGE(said[static_cast<size_t>(r)] == "",
                    "rank " << r << " in " << describe(c) << ": " << said[static_cast<size_t>(r)]);
  count_cases(1);
}

// Each collective in place and not, captured now and then.
void sweep(const GpuRanks& ranks, std::mt19937_64& random) {
  constexpr int kTypes[] = {PURLIN_F32, PURLIN_BF16, PURLIN_F16};
  constexpr uint64_t kCounts[] = {1023, 4097, 70'001, 300'001};
  const size_t counts = is_full() || random() % 4 == 0 ? 4 : 3;
  constexpr uint64_t kOffsets[] = {0, 0, 4, 12};
  for (int collective : kCollectives) {
    for (bool in_place : {false, true}) {
      const Case c{collective,
                   0,
                   kTypes[random() % 3],
                   PURLIN_SUM,
                   PURLIN_PATH_THROUGHPUT,
                   kCounts[random() % counts],
                   kOffsets[random() % std::size(kOffsets)],
                   in_place,
                   0,
                   0};
      // In place, a second replay would find its input overwritten.
      run_case(ranks, c, random, random() % 3 != 0 ? 0 : in_place ? 1 : 2);
    }
  }
}

// Quick: each number of ranks in one direction with each Atom, in both over the Atoms.
void sweep_all(bool spread, const std::vector<int>& sizes, std::mt19937_64& random) {
  const char* const atoms[] = {"generic", "ampere", "hopper"};
  for (size_t a = 0; a < std::size(atoms); ++a) {
    const char* const atom = atoms[a];
    for (size_t i = 0; i < sizes.size(); ++i) {
      const int n = sizes[i];
      for (const bool push : {false, true}) {
        if (!is_full() && push != ((a + i) % 2 != 0)) continue;
        const char* const direction = push ? "push" : "pull";
        const auto ranks = GpuRanks::make(n, policy_for(atom, direction), spread);
        if (!ranks) return;
        for (uint64_t open : {~uint64_t{0}, random(), uint64_t{0}}) {
          const Registered registered(*ranks, open);
          sweep(*ranks, random);
        }
        sweep(*ranks, random);  // with nothing registered any more
      }
    }
  }
}

}  // namespace

TEST_CASE("calls on registered buffers are exact, with 2, 3, 5 and 8 ranks on one GPU") {
  std::mt19937_64 random(seed() * 31 + 11);
  sweep_all(false, {2, 3, 5, 8}, random);
}

TEST_CASE("calls on registered buffers are exact with one rank a GPU") {
  std::mt19937_64 random(seed() * 31 + 12);
  sweep_all(true, {2}, random);
}

// Three calls follow each other in the stream; between them a copy in the stream writes the input
// anew, which it may do once the call before has ended, because peers have read by then.
TEST_CASE("an input may be overwritten in the stream behind its call") {
  for (int n : {2, 3, 8}) {
    const auto ranks = GpuRanks::make(n, policy_for("hopper", "pull"));
    if (!ranks) return;
    const Registered registered(*ranks, ~uint64_t{0});
    const uint64_t count = 400'003, out = 8 << 20, next = 16 << 20, bytes = count * 4;
    std::vector<uint64_t> wrong(static_cast<size_t>(n), 0);
    std::vector<std::string> said(static_cast<size_t>(n));
    ranks->each([&](int r) {
      const auto at = static_cast<size_t>(r);
      const DriverApi& api = ranks->device(r)->api();
      const cu::Stream stream = ranks->stream(r);
      DeviceBytes& arena = ranks->arena(r);
      const auto base = reinterpret_cast<cu::DevicePtr>(arena.data());
      for (uint64_t round = 0; round < 10; ++round) {
        std::vector<uint32_t> host(count), got(count);
        for (uint64_t i = 0; i < count; ++i)
          host[i] = static_cast<uint32_t>(i * 7 + round * 13 + at);
        arena.write(0, host.data(), bytes, stream);
        for (uint64_t i = 0; i < count; ++i) host[i] += 1000;
        arena.write(next, host.data(), bytes, stream);
        const auto sum = [&](uint64_t to) {
          if (purlin_all_reduce(arena.data(), arena.data() + to, count, PURLIN_U32, PURLIN_SUM,
                                ranks->comm(r), stream) != PURLIN_OK)
            said[at] = purlin_last_error();
        };
        sum(out);
        if (!api.memcpy_async(base, base + next, bytes, stream).is_ok()) said[at] = "a copy failed";
        sum(0);  // in place
        ranks->synchronize(r);
        if (purlin_comm_async_error(ranks->comm(r)) != PURLIN_OK)
          said[at] = purlin_comm_last_error(ranks->comm(r));
        for (const uint64_t place : {out, uint64_t{0}}) {
          arena.read(place, got.data(), bytes, stream);
          for (uint64_t i = 0; i < count; ++i) {
            uint32_t want = 0;
            for (int s = 0; s < n; ++s)
              want += static_cast<uint32_t>(i * 7 + round * 13 + static_cast<uint64_t>(s) +
                                            (place == 0 ? 1000 : 0));
            wrong[at] += got[i] != want;
          }
        }
      }
    });
    for (size_t r = 0; r < said.size(); ++r) {
      CHECK(said[r] == "");
      CHECK(wrong[r] == 0);
    }
    count_cases(10);
  }
}

// One block of purlin_mem_alloc, registered twice (whole, and its second half), used at several
// offsets, eager and captured; at last deregistered while a graph holds it, whose replay is then an
// error on every rank.
TEST_CASE("memory of purlin_mem_alloc is read in place at any offset, until it is deregistered") {
  const int n = 2;
  const auto ranks = GpuRanks::make(n, policy_for("hopper", "pull"));
  if (!ranks) return;
  constexpr uint64_t kBlock = 64 << 20, kCount = 262'144;
  std::vector<std::string> said(n), last(n);
  ranks->each([&](int r) {
    const auto at = static_cast<size_t>(r);
    const auto need = [&](int status) {
      if (status != PURLIN_OK && said[at].empty()) said[at] = purlin_last_error();
    };
    const DriverApi& api = ranks->device(r)->api();
    const cu::Stream stream = ranks->stream(r);
    void* block = nullptr;
    need(purlin_mem_alloc(&block, kBlock));
    auto* const base = static_cast<unsigned char*>(block);
    purlin_registration_t whole = nullptr, half = nullptr;
    need(purlin_comm_register(ranks->comm(r), base, kBlock, &whole));
    need(purlin_comm_register(ranks->comm(r), base + kBlock / 2, kBlock / 2, &half));
    const auto reduce = [&](uint64_t offset) {
      return purlin_all_reduce(base + offset, base + offset, kCount, PURLIN_F32, PURLIN_SUM,
                               ranks->comm(r), stream);
    };
    const auto check = [&](uint64_t offset, const std::function<void()>& call) {
      std::vector<float> host(kCount);
      for (uint64_t i = 0; i < kCount; ++i) host[i] = static_cast<float>((i + at * 5) % 1000);
      const auto address = reinterpret_cast<cu::DevicePtr>(base + offset);
      if (!api.memcpy_htod_async(address, host.data(), kCount * 4, stream).is_ok())
        said[at] = "a copy failed";
      ranks->synchronize(r);
      call();
      ranks->synchronize(r);
      if (!api.memcpy_dtoh_async(host.data(), address, kCount * 4, stream).is_ok())
        said[at] = "a copy failed";
      ranks->synchronize(r);
      for (uint64_t i = 0; i < kCount; ++i)
        if (host[i] != static_cast<float>(i % 1000 + (i + 5) % 1000)) said[at] = "a wrong sum";
    };
    for (const uint64_t offset :
         {uint64_t{0}, uint64_t{512}, (uint64_t{20} << 20) + 16, kBlock / 2 + 4})
      check(offset, [&] { need(reduce(offset)); });
    need(purlin_comm_deregister(ranks->comm(r), half));
    check(kBlock / 2 + 4, [&] { need(reduce(kBlock / 2 + 4)); });  // lies in the other one too
    const Replay graph(*ranks->device(r), stream, [&]() -> std::string {
      return reduce(512) == PURLIN_OK ? "" : purlin_last_error();
    });
    if (!graph.error().empty()) said[at] = graph.error();
    need(purlin_barrier(ranks->comm(r), stream));
    ranks->synchronize(r);
    for (int round = 0; round < 5; ++round) check(512, [&] { graph.launch(stream); });
    need(purlin_comm_deregister(ranks->comm(r), whole));
    need(purlin_barrier(ranks->comm(r), stream));
    ranks->synchronize(r);
    graph.launch(stream);
    ranks->synchronize(r);
    if (purlin_comm_async_error(ranks->comm(r)) == PURLIN_OK)
      said[at] = "a stale graph went through";
    last[at] = purlin_comm_last_error(ranks->comm(r));
    need(purlin_mem_free(block));
  });
  for (const std::string& text : said) CHECK(text == "");
  for (const std::string& text : last)
    CHECK_MESSAGE(text.find("registration 1") != std::string::npos, text);
}
