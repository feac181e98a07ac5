// A GPU rank alone, on a driver on host memory: its kernel is carried out here, by the host's SNAC
// over the very argument and memory that a kernel gets, and must find all that it waits for.
#include <algorithm>
#include <cstdlib>

#include "gpu/fake_gpu.h"
#include "host_kernels.h"
#include "level.h"
#include "runtime/communicator/ranks.h"
#include "snac/host_run.h"
#include "snac/naive_atom.h"

namespace purlin::test {
namespace {

// What the kernels do; counts those that finished.
struct Kernel {
  snac::Transformation transformation;
  int finished = 0;
  std::vector<uint64_t> epochs;

  void operator()(const FakeLaunch& launch, void** parameters) {
    const auto& d = *static_cast<const DeviceParams*>(parameters[0]);
    const snac::CallParams p = with_room<snac::kMaxRanks>(d);
    const snac::Form form = snac::form_of(transformation, p.nranks, p.geometry);
    purlin_constants constants{};
    constants.struct_size = sizeof constants;
    constants.nranks = p.nranks;
    constants.dtype = PURLIN_U8;
    constants.op = PURLIN_SUM;
    snac::HostCall call;
    call.form = &form;
    call.params = &p;
    call.atom = &naive_atom();
    call.constants = &constants;
    call.epoch = *snac::epoch_word(p, 0) + 1;
    epochs.push_back(call.epoch);
    const bool packets = launch.kernel.find("latency") != std::string::npos;
    finished += packets ? snac::run_latency(call) : snac::run_throughput(call);
    if (d.epoch_goes_on != 0) return;
    for (uint32_t word = 0; word < d.epoch_words; ++word) *snac::epoch_word(p, word) = call.epoch;
  }
};

TEST_CASE("a GPU rank alone finds what its peers would have written, again and again") {
#ifndef PURLIN_HAVE_CUDA
  skip("built without a CUDA toolkit: there are no Atoms for GPUs");
  return;
#endif
  REQUIRE(setenv("PURLIN_CUDA_DRIVER", PURLIN_FAKE_DRIVER, 1) == 0);
  FakeControl& control = opened_driver();
  const DriverApi& api = **driver();
  const std::string policy =
      "version: 1\nprograms: []\nstaging: {latency_bytes: 256KiB, throughput_bytes: 1MiB}\n"
      "tuning: {default: {chunk: 4KiB}}\ndatapath: {prefer: [generic]}\n";
  constexpr uint64_t kCount = 3000;
  for (int collective : {PURLIN_ALL_REDUCE, PURLIN_ALL_GATHER, PURLIN_ALL_TO_ALL}) {
    for (int path : {PURLIN_PATH_LATENCY, PURLIN_PATH_THROUGHPUT}) {
      const Ranks ranks(std::vector<int>{0, 1}, policy, 5'000);
      REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
      const bool one_shot = collective == PURLIN_ALL_REDUCE && path == PURLIN_PATH_LATENCY;
      Kernel kernel;
      kernel.transformation =
          snac::transformation_of(static_cast<snac::Collective>(collective), one_shot);
      control.on_launch(
          [&](const FakeLaunch& launch, void** parameters) { kernel(launch, parameters); });

      std::vector<std::vector<unsigned char>> in(2), out(2);
      std::vector<purlin_call> everyone(2);
      for (size_t r = 0; r < 2; ++r) {
        for (uint64_t i = 0; i < 2 * kCount; ++i)
          in[r].push_back(static_cast<unsigned char>(i * 7 + r * 31 + i / 256));
        out[r].assign(2 * kCount, 0xee);
        purlin_call& call = everyone[r];
        call = purlin_call{};
        call.struct_size = sizeof call;
        call.collective = collective;
        call.dtype = PURLIN_U8;
        call.op = PURLIN_SUM;
        call.send = in[r].data();
        call.recv = out[r].data();
        call.count = kCount;
        call.path = path;
      }
      // The rank's own buffers, on its device.
      Result<std::shared_ptr<const CudaDevice>> device = CudaDevice::open(api, 1);
      REQUIRE_MESSAGE(device.is_ok(), device.status().message());
      const ContextScope scope(**device);
      cu::DevicePtr send = 0, recv = 0;
      cu::Stream stream = nullptr;
      REQUIRE(api.mem_alloc(&send, 2 * kCount).is_ok());
      REQUIRE(api.mem_alloc(&recv, 2 * kCount).is_ok());
      REQUIRE(api.stream_create(&stream, cu::kStreamNonBlocking).is_ok());
      std::copy(in[1].begin(), in[1].end(), reinterpret_cast<unsigned char*>(send));
      purlin_call own = everyone[1];
      own.send = reinterpret_cast<const void*>(send);
      own.recv = reinterpret_cast<void*>(recv);

      for (int again = 0; again < 3; ++again) {
        std::fill_n(reinterpret_cast<unsigned char*>(recv), 2 * kCount,
                    static_cast<unsigned char>(0xee));
        const purlin_status status =
            purlin_run_alone(&own, again == 0 ? everyone.data() : nullptr, ranks.comm(1), stream);
        REQUIRE_MESSAGE(status == PURLIN_OK, purlin_last_error());
        CAPTURE(collective);
        CAPTURE(path);
        CHECK(kernel.finished == again + 1);
        CHECK(kernel.epochs.back() == 1);
        CHECK(
            std::equal(out[1].begin(), out[1].end(), reinterpret_cast<const unsigned char*>(recv)));
        count_cases(1);
      }
      control.on_launch({});
      const auto launches = control.launches();
      REQUIRE(!launches.empty());
      CHECK_FALSE(launches.back().programmatic);
      CHECK(api.mem_free(send).is_ok());
      CHECK(api.mem_free(recv).is_ok());
      CHECK(api.stream_destroy(stream).is_ok());
    }
  }
}

}  // namespace
}  // namespace purlin::test
