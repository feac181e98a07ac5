#include "tools/atom_bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "atom_bench_images.h"
#include "tools/atom_bench/parameters.h"
#include "tools/inputs.h"
#include "tools/launcher.h"
#include "tools/names.h"
#include "tools/reference.h"
#include "tools/size_text.h"

namespace purlin::tools {
namespace {

constexpr const char* kKernels[] = {"purlin_bench_atom", "purlin_bench_plain",
                                    "purlin_bench_chase"};
constexpr uint64_t kChaseSteps = 1 << 19,
                   kChaseGranule = 128;  // 64 MiB of lines: no cache holds them

struct FreeKernel {
  void operator()(purlin_kernel* kernel) const { purlin_free_kernel(kernel); }
};

// A program and its module.
struct Program {
  std::unique_ptr<purlin_kernel, FreeKernel> kernel;
  CudaHandle module = nullptr;
};

class AtomBench {
 public:
  AtomBench(const AtomBenchOptions& options, Launcher& launcher,
            const std::function<void(const std::string&)>& print)
      : options_(options), launcher_(launcher), print_(print) {}

  Outcome<nlohmann::json> run() {
    if (Done ready = prepare(); !ready) return Error{ready.error()};
    heading();
    std::vector<std::string> atoms = options_.atoms;
    if (atoms.empty()) atoms.emplace_back();
    for (const std::string& atom : atoms)
      for (const uint32_t stages : options_.stages)
        for (const uint32_t stage_bytes : options_.stage_bytes)
          if (Done measured = measure(atom, stages, stage_bytes); !measured)
            return Error{measured.error()};
    return nlohmann::json{{"device", launcher_.name()},
                          {"architecture", launcher_.architecture()},
                          {"multiprocessors", launcher_.multiprocessors()},
                          {"round_trip_ns", round_trip_ns_},
                          {"op", options_.reduces ? "reduce" : "copy"},
                          {"sources", options_.sources},
                          {"dtype", dtype_name(options_.dtype)},
                          {"bytes", options_.bytes},
                          {"chunk_bytes", options_.chunk_bytes},
                          {"direction", options_.push ? "push" : "pull"},
                          {"between_devices", options_.peer >= 0},
                          {"drain", options_.drain},
                          {"seed", options_.seed},
                          {"rows", rows_}};
  }

 private:
  uint64_t element_count() const { return options_.bytes / dtype_bytes(options_.dtype); }

  // Memory, fresh inputs, and how long one load takes to come back.
  Done prepare() {
    const uint64_t all = options_.bytes * options_.sources;
    const auto in = launcher_.allocate(all, !options_.push);
    if (!in) return Error{in.error()};
    const auto out = launcher_.allocate(options_.bytes, options_.push);
    if (!out) return Error{out.error()};
    parameters_.in = *in;
    parameters_.out = *out;
    parameters_.bytes = options_.bytes;
    parameters_.source_stride = options_.bytes;
    parameters_.chunk_bytes = options_.chunk_bytes;
    parameters_.drain = options_.drain ? 1 : 0;
    if (Done measured = measure_round_trip(); !measured) return measured;
    const InputSource source{options_.dtype, options_.reduces, options_.op,
                             options_.seed,  options_.bytes,   0};
    input_.resize(all);
    for (uint32_t s = 0; s < options_.sources; ++s)
      source.block(static_cast<int>(s), 0, element_count(), input_.data() + s * options_.bytes);
    return launcher_.copy_in(parameters_.in, input_.data(), all);
  }

  Outcome<Program> link(const std::string& atom, uint32_t stages, uint32_t stage_bytes) {
    purlin_kernel_request request = {};
    request.struct_size = sizeof request;
    request.device = launcher_.architecture().c_str();
    request.policy_path = options_.policy.empty() ? nullptr : options_.policy.c_str();
    request.atom = atom.empty() ? nullptr : atom.c_str();
    request.images = atom_bench_images;
    request.image_count = atom_bench_images_count;
    request.kernels = kKernels;
    request.kernel_count = std::size(kKernels);
    request.reduces = options_.reduces ? 1 : 0;
    request.dtype = options_.dtype;
    request.op = options_.op;
    request.nranks = options_.sources;
    request.stages = stages;
    request.stage_bytes = stage_bytes;
    Program program;
    purlin_kernel* kernel = nullptr;
    if (purlin_link_kernel(&request, &kernel) != PURLIN_OK) return Error{purlin_last_error()};
    program.kernel.reset(kernel);
    const auto module = launcher_.load(kernel->cubin);
    if (!module) return Error{module.error()};
    program.module = *module;
    return program;
  }

  // The policy's own Atom serves: the kernel uses none of it.
  Done measure_round_trip() {
    if (options_.bytes < kChaseSteps * kChaseGranule) return done();  // it would stay in a cache
    const auto program = link(options_.atoms.empty() ? "" : options_.atoms[0], 0, 0);
    if (!program) return Error{program.error()};
    std::vector<uint64_t> places(options_.bytes / kChaseGranule);
    for (size_t i = 0; i < places.size(); ++i) places[i] = i * kChaseGranule;
    std::mt19937_64 random(options_.seed);
    for (size_t i = 1; i <= kChaseSteps && i < places.size(); ++i)
      std::swap(places[i],
                places[std::uniform_int_distribution<size_t>(i, places.size() - 1)(random)]);
    std::vector<uint64_t> chain(options_.bytes / 8);
    for (size_t i = 0; i < kChaseSteps; ++i) chain[places[i] / 8] = places[(i + 1) % kChaseSteps];
    if (Done copied = launcher_.copy_in(parameters_.in, chain.data(), options_.bytes); !copied)
      return copied;
    AtomBenchParameters parameters = parameters_;
    parameters.steps = kChaseSteps;
    const auto time = launcher_.time(program->module, {kKernels[2], 1, 32, 0}, &parameters, 1);
    if (!time) return Error{time.error()};
    round_trip_ns_ = 1000 * *time / static_cast<double>(kChaseSteps);
    return done();
  }

  void heading() const {
    print_(fmt::format("# {} ({}, {} multiprocessors): {} of {} by chunks of {}{}{}",
                       launcher_.name(), launcher_.architecture(), launcher_.multiprocessors(),
                       options_.reduces ? fmt::format("{} of {} {} sources", op_name(options_.op),
                                                      options_.sources, dtype_name(options_.dtype))
                                        : "copy",
                       format_size(options_.bytes), format_size(options_.chunk_bytes),
                       options_.drain ? ", draining between chunks" : "",
                       options_.peer < 0 ? ", inside one device"
                       : options_.push   ? ", pushed to a peer"
                                         : ", pulled from a peer"));
    print_(fmt::format("# one load takes {:.0f} ns there and back", round_trip_ns_));
    print_(
        "#     atom   ctas stages  stage  in flight  needed  time us   GB/s plain us plain GB/s"
        "  ratio");
  }

  Done measure(const std::string& atom, uint32_t stages, uint32_t stage_bytes) {
    const auto program = link(atom, stages, stage_bytes);
    if (!program) return Error{program.error()};
    bool checked = false;
    for (const uint32_t ctas : options_.ctas) {
      if (!checked)
        if (Done poisoned = poison(); !poisoned) return poisoned;
      const purlin_kernel& k = *program->kernel;
      const auto time =
          launcher_.time(program->module, {kKernels[0], ctas, k.threads, k.shared_bytes},
                         &parameters_, options_.iterations);
      if (!time) return Error{time.error()};
      if (!checked)
        if (Done right = verify(k.atom); !right) return right;
      checked = true;
      const bool comparable =
          !options_.reduces || (options_.dtype == PURLIN_F32 && options_.op == PURLIN_SUM);
      double plain = 0;
      if (comparable) {
        const auto beside = launcher_.time(program->module, {kKernels[1], ctas, k.threads, 0},
                                           &parameters_, options_.iterations);
        if (!beside) return Error{beside.error()};
        plain = *beside;
      }
      add_row(k, ctas, *time, plain);
    }
    return done();
  }

  void add_row(const purlin_kernel& k, uint32_t ctas, double us, double plain_us) {
    const double bytes = static_cast<double>(options_.bytes) * options_.sources;  // that were read
    const double rate = bytes / us / 1000, plain_rate = plain_us > 0 ? bytes / plain_us / 1000 : 0;
    const uint64_t in_flight = uint64_t{ctas} * k.stages * k.stage_bytes;
    const double needed = rate * round_trip_ns_;  // bytes: GB/s times ns
    rows_.push_back({{"atom", k.atom},
                     {"ctas", ctas},
                     {"stages", k.stages},
                     {"stage_bytes", k.stage_bytes},
                     {"threads", k.threads},
                     {"in_flight_bytes", in_flight},
                     {"bandwidth_delay_bytes", needed},
                     {"time_us", us},
                     {"read_GBps", rate},
                     {"plain_us", plain_us},
                     {"plain_GBps", plain_rate}});
    print_(fmt::format(
        "{:>10} {:>6} {:>6} {:>6} {:>10} {:>6.0f}K {:>8.1f} {:>6.0f} {:>8} {:>10} {:>6}", k.atom,
        ctas, k.stages, format_size(k.stage_bytes), format_size(in_flight), needed / 1024, us, rate,
        plain_us > 0 ? fmt::format("{:.1f}", plain_us) : "-",
        plain_us > 0 ? fmt::format("{:.0f}", plain_rate) : "-",
        plain_us > 0 ? fmt::format("{:.2f}", plain_us / us) : "-"));
  }

  Done poison() {
    const std::vector<unsigned char> bytes(options_.bytes, 0xA5);
    return launcher_.copy_in(parameters_.out, bytes.data(), bytes.size());
  }

  Done verify(const char* atom) {
    std::vector<unsigned char> got(options_.bytes), expected(options_.bytes);
    if (Done copied = launcher_.copy_out(got.data(), parameters_.out, got.size()); !copied)
      return copied;
    const unsigned char* wanted = input_.data();
    if (options_.reduces) {
      std::vector<const void*> sources;
      for (uint32_t s = 0; s < options_.sources; ++s)
        sources.push_back(input_.data() + s * options_.bytes);
      reference_reduce(options_.dtype, options_.op, sources.data(),
                       static_cast<int>(options_.sources), nullptr, element_count(),
                       expected.data());
      wanted = expected.data();
    }
    if (std::memcmp(got.data(), wanted, got.size()) == 0) return done();
    const auto wrong = std::mismatch(got.begin(), got.end(), wanted);
    return Error{fmt::format("Atom {}: byte {} of {} is {:#04x}, expected {:#04x}", atom,
                             wrong.first - got.begin(), got.size(), *wrong.first, *wrong.second)};
  }

  const AtomBenchOptions& options_;
  Launcher& launcher_;
  const std::function<void(const std::string&)>& print_;
  AtomBenchParameters parameters_;
  std::vector<unsigned char> input_;
  double round_trip_ns_ = 0;
  nlohmann::json rows_ = nlohmann::json::array();
};

}  // namespace

Outcome<nlohmann::json> bench_atom(const AtomBenchOptions& options,
                                   const std::function<void(const std::string&)>& print) {
  if (atom_bench_images_count == 0)
    return Error{"this build holds no device code; build Purlin where nvcc is installed"};
  const auto driver = CudaDriver::open();
  if (!driver) return Error{driver.error()};
  const auto launcher = Launcher::open(**driver, options.device, options.peer);
  if (!launcher) return Error{launcher.error()};
  return AtomBench(options, **launcher, print).run();
}

}  // namespace purlin::tools
