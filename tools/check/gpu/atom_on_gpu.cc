#include "tools/check/gpu/atom_on_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include "check_copies_images.h"
#include "check_reductions_images.h"
#include "tools/check/gpu/format.h"
#include "tools/json_text.h"
#include "tools/names.h"
#include "tools/plugin_verdict.h"

namespace purlin::tools::check {
namespace {

constexpr const char* kCopying[] = {"purlin_check_walk", "purlin_check_packets",
                                    "purlin_check_signals"};
constexpr const char* kReducing[] = {"purlin_check_walk"};

}  // namespace

Outcome<std::unique_ptr<AtomOnGpu>> AtomOnGpu::open(const Subject& subject) {
  std::unique_ptr<AtomOnGpu> atom(new AtomOnGpu(subject));
  if (check_copies_images_count == 0)
    return Error{"this build holds no device code; build Purlin where nvcc is installed"};
  auto driver = CudaDriver::open();
  if (!driver) return Error{driver.error()};
  atom->driver_ = std::move(*driver);
  auto launcher = Launcher::open(*atom->driver_, 0, -1);
  if (!launcher) return Error{launcher.error()};
  atom->launcher_ = std::move(*launcher);
  const auto verdict = judge_plugin(subject.path, atom->launcher_->architecture());
  if (!verdict) return Error{verdict.error()};
  if (!verdict->fit().accepted)
    return Error{fmt::format("it does not serve this machine's GPU ({}, {}): {}",
                             atom->launcher_->name(), atom->launcher_->architecture(),
                             verdict->fit().reason)};
  atom->name_ = text_at(subject.atom, "name");
  atom->policy_ = atom->folder_.write("policy.yaml", policy_for_plugin(subject.path));
  return atom;
}

uint32_t AtomOnGpu::most_sources() const { return std::min(limits_.max_sources, kMostPointers); }
uint32_t AtomOnGpu::most_destinations() const {
  return std::min(limits_.max_destinations, kMostPointers);
}

Outcome<purlin_kernel*> AtomOnGpu::made(const ProgramSpec& spec) const {
  purlin_kernel_request request = {};
  request.struct_size = sizeof request;
  request.device = launcher_->architecture().c_str();
  request.policy_path = policy_.c_str();
  request.atom = name_.c_str();
  request.images = spec.reduces ? check_reductions_images : check_copies_images;
  request.image_count = spec.reduces ? check_reductions_images_count : check_copies_images_count;
  request.kernels = spec.reduces ? kReducing : kCopying;
  request.kernel_count = spec.reduces ? std::size(kReducing) : std::size(kCopying);
  request.reduces = spec.reduces ? 1 : 0;
  request.dtype = spec.dtype;
  request.op = spec.op;
  request.nranks = spec.nranks;
  request.stages = spec.stages;
  request.stage_bytes = spec.stage_bytes;
  request.threads = spec.threads;
  purlin_kernel* kernel = nullptr;
  if (purlin_link_kernel(&request, &kernel) == PURLIN_OK) return kernel;
  return Error{fmt::format(
      "{} of {} ranks, {} stages of {} bytes, {} threads (0: its own) does not link: {}",
      spec.reduces ? fmt::format("the program of {} {}", dtype_name(spec.dtype), op_name(spec.op))
                   : "the copying program",
      spec.nranks, spec.stages, spec.stage_bytes, spec.threads, purlin_last_error())};
}

Outcome<std::vector<Program>> AtomOnGpu::link_all(const std::vector<ProgramSpec>& specs) {
  std::vector<std::optional<Outcome<purlin_kernel*>>> results(specs.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < specs.size(); i = next++) results[i] = made(specs[i]);
  };
  std::vector<std::thread> threads;
  const size_t most = std::max(1u, std::thread::hardware_concurrency());
  for (size_t i = 1; i < std::min(most, specs.size()); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  std::vector<Program> programs;
  std::string fault;
  for (size_t i = 0; i < specs.size(); ++i) {
    if (!*results[i]) {
      if (fault.empty()) fault = results[i]->error();
      continue;
    }
    programs.push_back({});
    programs.back().kernel.reset(**results[i]);
    programs.back().spec = specs[i];
  }
  cannot_link_ = fault.find("remedies: install nvJitLink") != std::string::npos;
  if (!fault.empty()) return Error{fault};
  for (Program& program : programs) {
    const auto loaded = launcher_->load(program.kernel->cubin);
    if (!loaded) return Error{loaded.error()};
    program.loaded = *loaded;
  }
  return programs;
}

Outcome<Program> AtomOnGpu::link(const ProgramSpec& spec) {
  auto programs = link_all({spec});
  if (!programs) return Error{programs.error()};
  return std::move(programs->front());
}

}  // namespace purlin::tools::check
