#include "runtime/program/link/toy.h"

#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

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

std::string run(const std::string& command) {
  std::string out;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return out;
  char buffer[4096];
  while (size_t got = fread(buffer, 1, sizeof(buffer), pipe)) out.append(buffer, got);
  return pclose(pipe) == 0 ? out : "";
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

std::optional<std::string> disassemble(const std::vector<std::byte>& cubin) {
  std::string tool = PURLIN_SOURCE_DIR "/build/disassembler/nvdisasm";
  if (access(tool.c_str(), X_OK) != 0) tool = "nvdisasm";
  if (run("command -v " + tool).empty()) {
    test::skip("no nvdisasm: tests/tools/install_disassembler.sh installs it");
    return std::nullopt;
  }
  char path[] = "/tmp/purlin-sass-XXXXXX";
  const int fd = mkstemp(path);
  if (fd < 0) return std::nullopt;
  close(fd);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(cubin.data()),
             static_cast<std::streamsize>(cubin.size()));
  std::string sass = run(tool + " -c " + path);
  unlink(path);
  return sass;
}

}  // namespace purlin
