#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>

#include "communicator/backend.h"
#include "communicator/cuda_grid.h"
#include "communicator/cuda_params.h"
#include "communicator/cuda_programs.h"
#include "communicator/cuda_window.h"
#include "communicator/cuda_wire.h"
#include "communicator/stop_report.h"
#include "communicator/switch_memory.h"
#include "device/call_order.h"
#include "device/capture.h"
#include "device/host_words.h"
#include "memory/buffer_origin.h"
#include "snac/window.h"

namespace purlin {
namespace {

// Whether packets serve all pairs of this rank, in a call whose pairs choose: chunks then have nothing to
// move here. What a kernel reads counts for is not known, and windows want an entry from each rank.
bool packets_serve_all(const Launch& call) {
  if (!call.packets || call.form.windows || call.form.listed) return false;
  return snac::longest_pair(call.transformation, call.params) <= call.params.pair_limit;
}

class CudaBackend : public Backend {
 public:
  CudaBackend(std::shared_ptr<const CudaDevice> device, const BackendOptions& options,
              CudaWire wire, CudaPrograms programs, std::optional<CudaPrograms> switch_programs,
              std::unique_ptr<BudgetClaim> claim, std::unique_ptr<CallOrder> order, WordWriter words,
              CtaLimits limits, Rendezvous& rendezvous)
      : device_(std::move(device)), map_(snac::map_wire(block_of(options.wire))),
        epoch_words_(options.wire.max_ctas), wire_(std::move(wire)),
        switch_memory_(options.switch_memory), programs_(std::move(programs)),
        switch_programs_(std::move(switch_programs)), claim_(std::move(claim)), order_(std::move(order)),
        words_(std::move(words)), limits_(limits), rendezvous_(rendezvous) {
    map_.switch_bytes = options.wire.switch_bytes;
    rendezvous_.liveness().on_loss([this](int) { stop_rank(rendezvous_.rank(), snac::kStopPeerLost); });
  }
  ~CudaBackend() override { rendezvous_.liveness().on_loss({}); }

  void prepare(snac::CallParams* params) const override {
    fill_wire(params);
    if (switch_memory_ == nullptr) return;
    params->replica = switch_memory_->replica();
    params->view = switch_memory_->view();
  }
  void prepare_pairs(snac::PairParams* params) const override { fill_wire(params); }

  bool packets() const override { return wire_.packets(); }
  uint32_t least_chunks() const override {
    return least_chunks_for(limits_.throughput, static_cast<unsigned>(rendezvous_.size()));
  }

  // All programs are there before the first kernel is enqueued, and nothing is enqueued when one
  // cannot be had.
  Status launch(const Launch& call) override {
    const auto stream = static_cast<cu::Stream>(call.stream);
    const ContextScope scope(*device_);  // questions about the default stream are about the current context
    PURLIN_RETURN_IF_ERROR(scope.status());
    const bool skips = call.chunks && packets_serve_all(call);
    const bool wanted[] = {call.packets, call.chunks && !skips, call.switched};
    const LoadedProgram* programs[std::size(kKernels)] = {};
    for (unsigned i = 0; i < std::size(kKernels); ++i) {
      if (!wanted[i]) continue;
      const ProgramNeed need =
          need_of(kKernels[i], call.form, call.constants, call.params.scaled != 0);
      programs[i] = find_program(need);
      if (programs[i] != nullptr) continue;
      auto made = make_for_call(need, stream, describe_descriptor(call.params.descriptor));
      if (!made) return made.status();
      programs[i] = *made;
    }
    PURLIN_RETURN_IF_ERROR(check_buffer("send", call.params.in));
    PURLIN_RETURN_IF_ERROR(check_buffer("recv", call.params.out));
    if (call.form.listed) {
      for (const snac::BufferShape* shape : {&call.params.listed.input, &call.params.listed.output}) {
        PURLIN_RETURN_IF_ERROR(check_buffer("an array of counts", shape->counts));
        PURLIN_RETURN_IF_ERROR(check_buffer("an array of displacements", shape->displs));
      }
    }
    if (call.alone) PURLIN_RETURN_IF_ERROR(rewind(stream));
    for (unsigned i = 0; i < std::size(kKernels); ++i) {
      if (!wanted[i]) continue;
      PURLIN_RETURN_IF_ERROR(launch_one(kKernels[i], *programs[i], call, skips, stream));
    }
    return {};
  }

  Status launch_pairs(const PairLaunch& call) override {
    uint32_t streams = 0;
    for (uint32_t r = 0; r < call.params.nranks; ++r) {
      streams += call.params.sends[r].count != 0;
      streams += call.params.receives[r].count != 0 && r != call.params.rank;
    }
    if (streams == 0) return {};
    if (call.messages.size() > DevicePairParams::kMostMessages)
      return Status(PURLIN_UNSUPPORTED,
                    fmt::format("a group of {} messages was asked for, and one launch takes {} on a "
                                "GPU; end the group earlier on all ranks",
                                call.messages.size(), +DevicePairParams::kMostMessages));
    auto ctas = ctas_per_stream(streams, call.params.slots, limits_);
    if (!ctas) return ctas.status();
    const auto stream = static_cast<cu::Stream>(call.stream);
    const ContextScope scope(*device_);
    PURLIN_RETURN_IF_ERROR(scope.status());
    const ProgramNeed need = need_of(ProtocolKernel::kPairs, {}, call.constants, false);
    const LoadedProgram* program = find_program(need);
    if (program == nullptr) {
      auto made = make_for_call(need, stream, "a group of messages");
      if (!made) return made.status();
      program = *made;
    }
    for (const snac::PairMessage& message : call.messages)
      PURLIN_RETURN_IF_ERROR(check_buffer("a message's buffer", message.buffer));
    DevicePairParams params = device_pair_params(call, *ctas);
    LaunchPlan plan;
    plan.program = program;
    plan.grid = streams * *ctas;
    return enqueue(plan, &params, stream);
  }

  Status make_programs(const std::vector<ProgramNeed>& needs) override {
    PURLIN_RETURN_IF_ERROR(order_->synchronize());
    return make_all(programs_.fitting(needs), &programs_, switch_programs_ ? &*switch_programs_ : nullptr);
  }

  // Those of the switch are made with its own Atom, which is there when one of them is asked for.
  static Status make_all(const std::vector<ProgramNeed>& needs, CudaPrograms* programs,
                         CudaPrograms* switch_programs) {
    std::vector<ProgramNeed> plain, switched;
    for (const ProgramNeed& need : needs)
      (need.kernel == ProtocolKernel::kSwitch ? switched : plain).push_back(need);
    PURLIN_RETURN_IF_ERROR(programs->make(plain));
    return switched.empty() ? Status() : switch_programs->make(switched);
  }

  Result<MappedWindow> map_window(void* buffer, uint64_t bytes) override {
    return map_cuda_window(device_, buffer, bytes, rendezvous_);
  }
  Status write_window(uint32_t number, std::span<const snac::WindowBuffer> buffers) override {
    std::vector<uint64_t> words = {buffers.empty() ? 0 : number, 0};
    for (const snac::WindowBuffer& one : buffers) words.insert(words.end(), {one.base, one.bytes});
    snac::u8* const own = wire_.block(rendezvous_.rank());
    auto address = reinterpret_cast<cu::DevicePtr>(
        snac::window_line(own, map_, static_cast<snac::u32>(rendezvous_.size()), number));
    const std::lock_guard lock(words_mutex_);
    for (const uint64_t word : words) {
      PURLIN_RETURN_IF_ERROR(words_.write(address, word));
      address += sizeof word;
    }
    return words_.flush();
  }

  // What lies in a rank's block: the switch's staging is memory of its own.
  static snac::WireConfig block_of(snac::WireConfig wire) {
    wire.switch_bytes = 0;
    return wire;
  }

  snac::Control* control(int rank) const override { return wire_.host_controls() + rank; }

  // An abort leaves no record, so that host and device do not write the same one; what a host finds
  // before its kernel is enqueued does, and the device has then nothing to say of that call.
  void stop(const snac::StopRecord& record) override {
    uint32_t reason = snac::kStopAborted + record.rank;
    if (record.kind != snac::StopKind::kAborted) {
      reason = record.rank + 1;
      snac::Control* own = control(rendezvous_.rank());
      if (__atomic_exchange_n(&own->claimed, 1u, __ATOMIC_ACQ_REL) == 0) {
        own->record = record;
        __atomic_store_n(&own->recorded, 1u, __ATOMIC_RELEASE);
      }
    }
    for (int r = 0; r < rendezvous_.size(); ++r) stop_rank(r, reason);
  }
  void refuse_next() override {
    __atomic_store_n(&control(rendezvous_.rank())->refused, 1, __ATOMIC_RELEASE);
  }
  Status write_block(int rank, uint64_t offset, std::span<const snac::u8> bytes) override {
    PURLIN_RETURN_IF_ERROR(order_->synchronize());
    auto stream = PrivateStream::create(device_);
    if (!stream) return stream.status();
    const ContextScope scope(*device_);
    PURLIN_RETURN_IF_ERROR(scope.status());
    const auto to = reinterpret_cast<cu::DevicePtr>(wire_.block(rank)) + offset;
    PURLIN_RETURN_IF_ERROR(
        device_->api().memcpy_htod_async(to, bytes.data(), bytes.size(), stream->get()));
    return stream->synchronize();
  }
  // Kernels end by themselves: with their work, with the stop word, or with their time limit.
  void drain() override { static_cast<void>(order_->synchronize()); }

 private:
  // From any thread. Hosts see the table at once, kernels the word in their GPU's memory once it is
  // copied there; the first reason stands. A copy that fails leaves kernels to their time limit.
  void stop_rank(int rank, uint32_t reason) {
    uint32_t none = 0;
    if (!__atomic_compare_exchange_n(&control(rank)->stop, &none, reason, false, __ATOMIC_RELEASE,
                                     __ATOMIC_RELAXED))
      return;
    const std::lock_guard lock(words_mutex_);
    const auto block = reinterpret_cast<cu::DevicePtr>(wire_.block(rank));
    static_cast<void>(words_.write(block + map_.control, reason));
  }

  static constexpr ProtocolKernel kKernels[] = {
      ProtocolKernel::kLatency, ProtocolKernel::kThroughput, ProtocolKernel::kSwitch};

  const LoadedProgram* find_program(const ProgramNeed& need) const {
    const bool switched = need.kernel == ProtocolKernel::kSwitch;
    return switched ? switch_programs_->find(need) : programs_.find(need);
  }

  template <class Params>
  void fill_wire(Params* params) const {
    params->map = map_;
    params->controls = wire_.device_controls();
    for (int r = 0; r < rendezvous_.size(); ++r) params->peers[r] = wire_.block(r);
  }

  // What loading a program would disturb now, when this rank is to launch.
  Result<Moment> moment(cu::Stream stream) const {
    auto capture = capture_info(device_->api(), stream);
    if (!capture) return capture.status();
    if (capture->id != 0) return Moment::kCapture;
    if (wire_.local_ranks() > 1) return Moment::kShared;
    const auto idle = order_->idle();
    if (!idle) return idle.status();
    return *idle ? Moment::kIdle : Moment::kBusy;
  }

  // The program of a call whose own is not loaded. `what` names the call.
  Result<const LoadedProgram*> make_for_call(const ProgramNeed& need, cu::Stream stream,
                                             const std::string& what) {
    const auto now = moment(stream);
    if (!now) return now.status();
    if (const LoadedProgram* program = programs_.serve(need, *now)) return program;
    if (*now == Moment::kCapture)
      return Status(PURLIN_INVALID_USAGE,
                    fmt::format("{} is captured, and its program is not loaded yet, which a capture "
                                "forbids; make the call once before, call purlin_prepare, or add "
                                "{}to the policy's `programs`",
                                what,
                                need.may_be_universal()
                                    ? "its dtype and operation, or kind universal for all of them, "
                                    : "kind copy "));
    PURLIN_RETURN_IF_ERROR(make_programs({need}));
    return find_program(need);
  }

  // Enqueues the epoch 0, and takes back the flags that this rank raises for itself.
  Status rewind(cu::Stream stream) const {
    const ContextScope scope(*device_);
    PURLIN_RETURN_IF_ERROR(scope.status());
    const auto block = reinterpret_cast<cu::DevicePtr>(wire_.block(rendezvous_.rank()));
    PURLIN_RETURN_IF_ERROR(device_->api().memset_d8_async(block + map_.epochs, 0,
                                                          uint64_t{epoch_words_} * 8, stream));
    return device_->api().memset_d8_async(block + map_.own, 0, map_.acks - map_.own, stream);
  }

  // `skips`: the chunks that the call has too are not launched here; peers may launch theirs.
  Status launch_one(ProtocolKernel kernel, const LoadedProgram& program, const Launch& call,
                    bool skips, cu::Stream stream) {
    LaunchPlan plan;
    plan.program = &program;
    Ctas ctas;
    if (kernel == ProtocolKernel::kLatency) {
      const LatencyGrid grid = latency_grid(call, program.shape().threads, limits_);
      plan.threads = grid.threads;
      ctas.roles[0] = grid.ctas;
      plan.programmatic = device_->architecture() >= 90 && !call.alone;
    } else {
      const auto split = throughput_ctas(call.form, *call.choice, limits_);
      if (!split) return split.status();
      ctas = *split;
    }
    plan.grid = ctas.total();
    DeviceParams params = device_params(call.params, epoch_words_, ctas);
    params.epoch_goes_on = kernel == ProtocolKernel::kLatency && call.chunks && !skips;
    if (wire_.local_ranks() == 1 || call.alone) return enqueue(plan, &params, stream);
    const auto capture = capture_info(device_->api(), stream);
    if (!capture) return capture.status();
    if (capture->id == 0) claim_->await_peers();
    const Status launched = enqueue(plan, &params, stream);
    if (launched.is_ok() && capture->id == 0) claim_->count_launches(skips ? 2 : 1);
    return launched;
  }

  // `params`: the kernel's one argument. A refusal of an earlier call is void from now on.
  Status enqueue(LaunchPlan plan, void* params, cu::Stream stream) {
    PURLIN_RETURN_IF_ERROR(check_residency(*plan.program, plan.grid, wire_.local_ranks()));
    __atomic_store_n(&control(rendezvous_.rank())->refused, 0, __ATOMIC_RELEASE);
    plan.parameters = &params;
    return order_->launch(plan, stream);
  }

  // Kernels cannot read host memory that the driver does not know.
  Status check_buffer(const char* name, const void* address) const {
    if (address == nullptr) return {};
    auto id = memory_id_of(*device_, address);
    if (!id) return id.status();
    if (*id != 0) return {};
    auto origin = origin_of(*device_, address, 1);
    if (!origin) return origin.status();
    if (origin->kind != BufferKind::kHost) return {};
    return Status(PURLIN_INVALID_ARGUMENT,
                  fmt::format("{} at {} is host memory that the driver does not know, and this "
                              "communicator runs on {}; pass device memory, or create the "
                              "communicator on the host device",
                              name, address, device_->describe()));
  }

  // In the order of making; released the other way round.
  std::shared_ptr<const CudaDevice> device_;
  snac::WireMap map_;
  uint32_t epoch_words_;
  CudaWire wire_;
  std::shared_ptr<SwitchMemory> switch_memory_;
  CudaPrograms programs_;
  std::optional<CudaPrograms> switch_programs_;
  std::unique_ptr<BudgetClaim> claim_;
  std::unique_ptr<CallOrder> order_;
  std::mutex words_mutex_;
  WordWriter words_;
  CtaLimits limits_;
  Rendezvous& rendezvous_;
};

}  // namespace

Result<std::unique_ptr<Backend>> make_cuda_backend(const BackendOptions& options,
                                                   std::shared_ptr<const CudaDevice> device,
                                                   const purlin_atom_descriptor& atom,
                                                   const std::vector<ProgramNeed>& programs,
                                                   const CtaWish& wish, Rendezvous& rendezvous) {
  if (options.wire.nranks > kDeviceRanks)
    return rendezvous.agree(Status(
        PURLIN_UNSUPPORTED, fmt::format("{} ranks on GPUs were asked for; device code serves at most "
                                        "{} ranks of one machine",
                                        options.wire.nranks, kDeviceRanks)));
  auto wire = CudaWire::create(device, options.name, CudaBackend::block_of(options.wire), rendezvous);
  if (!wire) return wire.status();

  std::unique_ptr<Backend> backend;
  auto limits = agree_on_limits(cta_limits(*device, wire->local_ranks(), wish), rendezvous);
  if (!limits) return limits.status();
  const Status alone = [&]() -> Status {
    BudgetRequest request;
    request.communicator = identity_number(rendezvous);
    request.local_ranks = wire->local_ranks();
    request.ctas = limits->claimed();
    request.name = options.name;
    auto claim = claim_budget(*device, request);
    if (!claim) return claim.status();
    auto order = CallOrder::create(device, **claim);
    if (!order) return order.status();
    auto words = WordWriter::create(device);
    if (!words) return words.status();
    auto made = CudaPrograms::create(device, atom);
    if (!made) return made.status();
    std::optional<CudaPrograms> switched;
    if (options.switch_atom != nullptr) {
      auto own = CudaPrograms::create(device, *options.switch_atom);
      if (!own) return own.status();
      switched.emplace(*std::move(own));
    }
    std::vector<ProgramNeed> wanted = made->fitting(programs);
    for (const ProgramNeed& need : made->deferred())
      if (need.constants.nranks == options.wire.nranks) wanted.push_back(need);
    PURLIN_RETURN_IF_ERROR(CudaBackend::make_all(wanted, &*made, switched ? &*switched : nullptr));
    backend = std::make_unique<CudaBackend>(device, options, std::move(*wire),
                                            std::move(*made), std::move(switched), std::move(*claim),
                                            std::move(*order), std::move(*words), *limits, rendezvous);
    return {};
  }();
  PURLIN_RETURN_IF_ERROR(rendezvous.agree(alone));
  return backend;
}

}  // namespace purlin
