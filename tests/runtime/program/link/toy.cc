#include "runtime/program/link/toy.h"

#include "level.h"
#include "program/select.h"
#include "toy_atom.h"
#include "toy_core.h"
#include "toy_misfits.h"

namespace purlin {
namespace {

ProgramRequest request_of(std::vector<DeviceImage> images, uint32_t cc, uint64_t nranks) {
  ProgramRequest request;
  request.name = "toy";
  request.cc = cc;
  request.images = std::move(images);
  request.constants = {{"nranks", nranks}, {"stages", 3}};
  request.threads = 256;
  request.kernels = {"toy_program"};
  return request;
}

}  // namespace

bool have_toy_images() {
  if (toy_core_count > 0) return true;
  test::skip("built without a CUDA toolkit: there are no device images to link");
  return false;
}

std::vector<DeviceImage> toy_images(const purlin_atom_image* table, uint64_t count) {
  std::vector<DeviceImage> out;
  for (uint64_t i = 0; i < count; ++i) out.push_back(image_from_atom(table[i], "toy").value());
  return out;
}

Result<ProgramRequest> toy_request(uint32_t cc, uint64_t nranks) {
  auto chosen = select_images(toy_images(toy_atom, toy_atom_count), cc, PURLIN_F32);
  if (!chosen) return chosen.status();
  chosen->insert(chosen->begin(), toy_images(toy_core, 1).front());
  return request_of(std::move(*chosen), cc, nranks);
}

ProgramRequest misfit_request(uint64_t index) {
  return request_of(
      {toy_images(toy_core, 1).front(), toy_images(toy_misfits, toy_misfits_count)[index]}, 90, 2);
}

}  // namespace purlin
