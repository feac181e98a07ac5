// A machine with the stand-in toolkit: a cache, a count of links, and what the linker gives.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "program/request.h"
#include "program/sources.h"
#include "runtime/program/sample_cubin.h"
#include "runtime/program/sample_images.h"
#include "runtime/program/temporary_folder.h"
#include "runtime/program/variable.h"

namespace purlin {

class FakeToolkit {
 public:
  FakeToolkit() { give({}); }
  // What the linker gives from now on.
  void give(const SampleCubin& what) {
    const auto cubin = sample_cubin(what);
    std::ofstream(cubin_path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(cubin.data()),
               static_cast<std::streamsize>(cubin.size()));
  }
  size_t links() const {
    std::error_code none;
    const auto size = std::filesystem::file_size(log_path_, none);
    return none ? 0 : static_cast<size_t>(size);
  }
  std::string cache() const { return folder_.at("cache"); }
  std::string at(const std::string& name) const { return folder_.at(name); }
  // A cache of this machine's own and the stand-in libraries.
  ProgramSources sources() const {
    ProgramSources out;
    out.cache = cache();
    out.libraries.folders = {PURLIN_FAKE_TOOLKIT};
    return out;
  }
  // The same without libraries: a container that has a driver alone.
  ProgramSources without_libraries() const {
    ProgramSources out = sources();
    out.libraries.folders = {at("nowhere")};
    return out;
  }

  Variable release{"FAKE_LINKER_RELEASE", nullptr};
  Variable compiler_release{"FAKE_COMPILER_RELEASE", nullptr};
  Variable fails{"FAKE_LINKER_FAILS", nullptr};
  Variable milliseconds{"FAKE_LINKER_MS", nullptr};

 private:
  TemporaryFolder folder_;
  std::string cubin_path_ = folder_.at("linked.cubin"), log_path_ = folder_.at("links");
  Variable cubin_{"FAKE_LINKER_CUBIN", cubin_path_.c_str()};
  Variable log_{"FAKE_LINKER_LOG", log_path_.c_str()};
};

// Requests that differ in one constant; all have the kernel of SampleCubin.
inline ProgramRequest sample_request(uint64_t nranks = 2) {
  static const DeviceImage snac = sample_image("snac", 75), atom = sample_image("atom", 90);
  ProgramRequest request;
  request.name = "sample-n" + std::to_string(nranks);
  request.cc = 90;
  request.images = {snac, atom};
  request.constants = {{"nranks", nranks}};
  request.threads = 512;
  request.kernels = {"sample_kernel"};
  return request;
}

}  // namespace purlin
