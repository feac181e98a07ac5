#include "communicator/cuda_programs.h"

#include <mutex>
#include <set>
#include <tuple>

#include "plugin/fit.h"
#include "program/store.h"
#include "snac/constants.h"

namespace purlin {
namespace {

using Key = std::tuple<std::string, Digest, std::string, unsigned, unsigned>;

// What is loaded in this process, for as long as somebody uses it.
struct Shelf {
  std::mutex mutex;
  std::map<Key, std::weak_ptr<const LoadedProgram>> programs;
};

Shelf& shelf() {
  static auto& shelf = *new Shelf();
  return shelf;
}

auto key_of(const ProgramNeed& need) {
  const ProtocolConstants& c = need.constants;
  return std::make_tuple(need.kernel, c.form.steps, snac::encode_flags(c.form), c.form.sources,
                         c.nranks, c.dtype, c.op, c.stages, c.stage_bytes, c.threads);
}

}  // namespace

ProgramNeed ProgramNeed::normalized() const {
  return {kernel, constants_in_code(kernel, constants)};
}

bool ProgramNeed::operator<(const ProgramNeed& other) const {
  return key_of(*this) < key_of(other);
}

Result<CudaPrograms> CudaPrograms::create(std::shared_ptr<const CudaDevice> device,
                                          const purlin_atom_descriptor& atom) {
  auto images = plugin::images_of(atom);
  if (!images) return images.status();
  CudaPrograms programs(std::move(device), atom);
  programs.images_ = *std::move(images);
  return programs;
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
    auto request = protocol_request(need.kernel, need.constants,
                                    static_cast<uint32_t>(device_->architecture()), images_);
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

Status CudaPrograms::load(const ProgramNeed& need, const ProgramRequest& request,
                          const Result<ProgramHandle>& made) {
  if (!made) return made.status();
  const Program& program = **made;
  ProgramShape shape;
  shape.kernel = kernel_name(need.kernel);
  shape.threads = need.constants.threads;
  if (need.kernel != ProtocolKernel::kLatency)
    shape.shared_bytes = dynamic_shared_bytes(*atom_.limits, need.constants);
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
