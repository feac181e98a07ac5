#include "communicator/cuda_programs.h"

#include <mutex>
#include <set>
#include <tuple>

#include "plugin/fit.h"
#include "program/store.h"
#include "snac/constants.h"

namespace purlin {
namespace {

// Of a loaded program: device, digest, name, threads and dynamic shared memory.
using Key = std::tuple<std::string, Digest, std::string, unsigned, unsigned>;

// What is loaded in this process, for as long as somebody uses it, and which programs calls were served
// without. Whether a call may load a program is decided for all ranks of the process under one mutex: once
// a rank was served otherwise, its kernel may wait for any other rank, and loading for that kernel.
struct Shelf {
  std::mutex mutex;
  std::map<Key, std::weak_ptr<const LoadedProgram>> programs;
  std::map<std::pair<std::string, const purlin_atom_descriptor*>, std::set<ProgramNeed>> deferred;
};

Shelf& shelf() {
  static auto& shelf = *new Shelf();
  return shelf;
}

auto key_of(const ProgramNeed& need) {
  const ProtocolConstants& c = need.constants;
  return std::make_tuple(need.kernel, c.form.steps, snac::encode_flags(c.form), c.form.sources,
                         c.nranks, c.dtype, c.op, c.universal, c.stages, c.stage_bytes, c.threads);
}

}  // namespace

struct CudaPrograms::Missing {
  ProgramRequest request;
  Key key;
  BackgroundMaking::Progress progress;  // none: never looked for
};

ProgramNeed ProgramNeed::normalized() const {
  return {kernel, constants_in_code(kernel, constants)};
}

bool ProgramNeed::operator<(const ProgramNeed& other) const {
  return key_of(*this) < key_of(other);
}

CudaPrograms::CudaPrograms(std::shared_ptr<const CudaDevice> device,
                           const purlin_atom_descriptor& atom, std::vector<DeviceImage> images)
    : device_(std::move(device)),
      atom_(atom),
      images_(std::move(images)),
      background_(std::make_unique<BackgroundMaking>(process_store())) {}
CudaPrograms::~CudaPrograms() = default;
CudaPrograms::CudaPrograms(CudaPrograms&&) noexcept = default;

Result<CudaPrograms> CudaPrograms::create(std::shared_ptr<const CudaDevice> device,
                                          const purlin_atom_descriptor& atom) {
  auto images = plugin::images_of(atom);
  if (!images) return images.status();
  return CudaPrograms(std::move(device), atom, *std::move(images));
}

const LoadedProgram* CudaPrograms::find(const ProgramNeed& need) const {
  const auto found = loaded_.find(need.normalized());
  return found == loaded_.end() ? nullptr : found->second.get();
}

Status CudaPrograms::make(const std::vector<ProgramNeed>& needs) {
  std::set<ProgramNeed> missing;
  for (const ProgramNeed& need : needs) {
    if (find(need) == nullptr) missing.insert(need.normalized());
  }
  if (missing.empty()) return {};
  std::vector<ProgramRequest> requests;
  for (const ProgramNeed& need : missing) {
    auto request = request_for(need);
    if (!request) return request.status();
    requests.push_back(*std::move(request));
  }
  Status status;
  const auto outcomes = process_store().get_all(requests);
  size_t i = 0;
  for (const ProgramNeed& need : missing) {
    const Status made = load(need, requests[i], outcomes[i].program);
    if (status.is_ok()) status = made;
    ++i;
  }
  return status;
}

const LoadedProgram* CudaPrograms::serve(const ProgramNeed& asked, Moment moment) {
  const LoadedProgram* any = asked.may_be_universal() ? find(asked.universal()) : nullptr;
  if (any == nullptr) return nullptr;
  const ProgramNeed need = asked.normalized();
  auto found = missing_.find(need);
  const bool first = found == missing_.end();
  if (first) {
    auto request = request_for(need);
    if (!request) return nullptr;  // make() says why
    const ProgramShape shape = shape_of(need);
    Missing missing{*std::move(request), {}, nullptr};
    missing.key = {device_->uuid_text(), program_digest(missing.request), missing.request.name,
                   shape.threads, shape.shared_bytes};
    found = missing_.emplace(need, std::move(missing)).first;
  }
  Missing& missing = found->second;
  const std::lock_guard lock(shelf().mutex);
  if (auto there = shelf().programs[missing.key].lock()) return (loaded_[need] = there).get();
  std::set<ProgramNeed>& deferred = shelf().deferred[{device_->uuid_text(), &atom_}];
  if (first && moment != Moment::kCapture) {
    const bool settled = moment == Moment::kShared && deferred.contains(need);
    if (!settled && process_store().find(missing.request) != nullptr) return nullptr;
  }
  if (missing.progress == nullptr) missing.progress = background_->want(missing.request);
  const bool made = missing.progress->load(std::memory_order_acquire) == BackgroundMaking::State::kMade;
  if (made && moment == Moment::kIdle) return nullptr;
  deferred.insert(need);
  return any;
}

std::vector<ProgramNeed> CudaPrograms::fitting(const std::vector<ProgramNeed>& needs) const {
  std::vector<ProgramNeed> fit;
  for (const ProgramNeed& need : needs)
    if (!need.constants.universal ||
        shape_of(need).shared_bytes + static_shared_bytes(need.constants) <=
            device_->facts().shared_bytes_per_block)
      fit.push_back(need);
  return fit;
}

std::vector<ProgramNeed> CudaPrograms::deferred() const {
  const std::lock_guard lock(shelf().mutex);
  const auto found = shelf().deferred.find({device_->uuid_text(), &atom_});
  if (found == shelf().deferred.end()) return {};
  return {found->second.begin(), found->second.end()};
}

Result<ProgramRequest> CudaPrograms::request_for(const ProgramNeed& need) const {
  return protocol_request(need.kernel, need.constants,
                          static_cast<uint32_t>(device_->architecture()), images_);
}

ProgramShape CudaPrograms::shape_of(const ProgramNeed& need) const {
  ProgramShape shape;
  shape.kernel = kernel_name(need.kernel);
  shape.threads = need.constants.threads;
  if (need.kernel != ProtocolKernel::kLatency)
    shape.shared_bytes = dynamic_shared_bytes(*atom_.limits, need.constants);
  return shape;
}

Status CudaPrograms::load(const ProgramNeed& need, const ProgramRequest& request,
                          const Result<ProgramHandle>& made) {
  if (!made) return made.status();
  const Program& program = **made;
  const ProgramShape shape = shape_of(need);
  const Key key{device_->uuid_text(), program.digest, request.name, shape.threads,
                shape.shared_bytes};
  const std::lock_guard lock(shelf().mutex);
  std::weak_ptr<const LoadedProgram>& place = shelf().programs[key];
  std::shared_ptr<const LoadedProgram> there = place.lock();
  if (there == nullptr) {
    auto loaded = LoadedProgram::load(device_, program.cubin, shape);
    if (!loaded) return loaded.status();
    place = there = *std::move(loaded);
  }
  loaded_[need] = std::move(there);
  return {};
}

}  // namespace purlin
