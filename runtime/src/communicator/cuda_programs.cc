#include "communicator/cuda_programs.h"

#include <mutex>
#include <tuple>

#include "plugin/descriptor_check.h"
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
  ProgramNeed need = *this;
  ProtocolConstants& c = need.constants;
  if (!c.form.reduces && c.op != PURLIN_PREMUL_SUM) {
    c.dtype = PURLIN_U8;
    c.op = PURLIN_SUM;
    c.form.sources = 0;
  }
  if (need.kernel == ProtocolKernel::kLatency) {
    c.stages = 1;
    c.stage_bytes = 16;
    c.form.push[0] = c.form.push[1] = false;
  }
  if (need.kernel == ProtocolKernel::kPairs) c.form = snac::Form{};
  return need;
}

bool ProgramNeed::operator<(const ProgramNeed& other) const {
  return key_of(*this) < key_of(other);
}

Result<CudaPrograms> CudaPrograms::create(std::shared_ptr<const CudaDevice> device,
                                          const purlin_atom_descriptor& atom) {
  CudaPrograms programs(std::move(device), atom);
  for (uint64_t i = 0; i < atom.image_count; ++i) {
    auto image = image_from_atom(*plugin::image_at(atom, i), atom.name);
    if (!image) return image.status();
    programs.images_.push_back(*std::move(image));
  }
  return programs;
}

const LoadedProgram* CudaPrograms::find(const ProgramNeed& need) const {
  const auto found = loaded_.find(need.normalized());
  return found == loaded_.end() ? nullptr : found->second.get();
}

Status CudaPrograms::make(const std::vector<ProgramNeed>& needs) {
  std::vector<ProgramNeed> missing;
  std::vector<ProgramRequest> requests;
  for (const ProgramNeed& need : needs) {
    const ProgramNeed wanted = need.normalized();
    if (loaded_.contains(wanted)) continue;
    auto request = protocol_request(wanted.kernel, wanted.constants,
                                    static_cast<uint32_t>(device_->architecture()), images_);
    if (!request) return request.status();
    loaded_[wanted] = nullptr;  // asked for once
    missing.push_back(wanted);
    requests.push_back(*std::move(request));
  }
  if (missing.empty()) return {};
  Status status;
  auto outcomes = process_store().get_all(requests);
  for (size_t i = 0; i < missing.size(); ++i) {
    Result<std::shared_ptr<const LoadedProgram>> loaded =
        outcomes[i].program ? load(missing[i], requests[i], **outcomes[i].program)
                            : Result<std::shared_ptr<const LoadedProgram>>(
                                  outcomes[i].program.status());
    if (loaded) {
      loaded_[missing[i]] = *std::move(loaded);
    } else {
      loaded_.erase(missing[i]);
      if (status.is_ok()) status = loaded.status();
    }
  }
  return status;
}

Result<std::shared_ptr<const LoadedProgram>> CudaPrograms::load(const ProgramNeed& need,
                                                                const ProgramRequest& request,
                                                                const Program& program) const {
  ProgramShape shape;
  shape.kernel = kernel_name(need.kernel);
  shape.threads = need.constants.threads;
  if (need.kernel != ProtocolKernel::kLatency)
    shape.shared_bytes = dynamic_shared_bytes(*atom_.limits, need.constants);
  const Key key{device_->uuid_text(), program.digest, request.name, shape.threads,
                shape.shared_bytes};
  const std::lock_guard lock(shelf().mutex);
  std::weak_ptr<const LoadedProgram>& place = shelf().programs[key];
  if (auto there = place.lock()) return there;
  auto loaded = LoadedProgram::load(device_, program.cubin, shape);
  if (loaded) place = *loaded;
  return loaded;
}

}  // namespace purlin
