#include "program/prelink.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "program/program_file.h"
#include "runtime/program/fake_toolkit.h"

using namespace purlin;

namespace {

PrelinkOptions options(const FakeToolkit& machine, const std::string& folder) {
  PrelinkOptions out;
  out.output_directory = machine.at(folder);
  out.device = "sm_90";
  out.libraries.folders = {PURLIN_FAKE_TOOLKIT};
  return out;
}

// A machine that has the prelinked folder and no toolkit, and no cache to speak of.
ProgramSources container(const FakeToolkit& machine, const std::string& folder) {
  ProgramSources out = machine.without_libraries();
  out.cache = machine.at("empty cache");
  out.prelinked = {machine.at(folder)};
  return out;
}

}  // namespace

TEST_CASE("prelinked programs serve where there is no linker, whoever linked them") {
  FakeToolkit machine;
  const std::vector<ProgramRequest> requests = {sample_request(2), sample_request(4)};
  std::vector<std::string> told;
  auto how = options(machine, "out/programs");
  how.progress = [&](int, int total, const std::string& name) {
    CHECK(total == 2);
    told.push_back(name);
  };
  const auto manifest = prelink(requests, how);
  REQUIRE_MESSAGE(manifest.is_ok(), manifest.status().message());
  CHECK(told.size() == 2);
  ProgramStore store(container(machine, "out/programs"));
  for (const auto& outcome : store.get_all(requests)) {
    REQUIRE_MESSAGE(outcome.program.is_ok(), outcome.program.status().message());
    CHECK((*outcome.program)->origin == ProgramOrigin::kPrelinked);
  }
  CHECK_FALSE(store.get(sample_request(8)).program.is_ok());
  CHECK(machine.links() == 2);
}

TEST_CASE("the manifest tells what is in the folder, and others may read it") {
  FakeToolkit machine;
  const auto text = prelink(std::vector{sample_request(2)}, options(machine, "out"));
  REQUIRE(text.is_ok());
  std::ifstream file(machine.at("out/manifest.json"));
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == *text);
  const auto manifest = nlohmann::json::parse(*text);
  CHECK(manifest["device"] == "sm_90");
  CHECK(manifest["device_abi"] == PURLIN_ATOM_DEVICE_ABI);
  const auto& program = manifest["programs"].at(0);
  CHECK(program["name"] == "sample-n2");
  CHECK(program["digest"] == hex(program_digest(sample_request(2))));
  CHECK(program["kernels"].at(0)["registers"] == 40);
  struct stat facts {};
  const std::string path = machine.at("out/" + program["file"].get<std::string>());
  REQUIRE(stat(path.c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0644);
}

TEST_CASE("without a linker nothing is prelinked and no manifest is written") {
  FakeToolkit machine;
  auto how = options(machine, "out");
  how.libraries.folders = {machine.at("nowhere")};
  const auto manifest = prelink(std::vector{sample_request(2)}, how);
  REQUIRE_FALSE(manifest.is_ok());
  CHECK(manifest.status().message().find("prelink: program 'sample-n2'") == 0);
  CHECK_FALSE(std::filesystem::exists(machine.at("out/manifest.json")));
}

TEST_CASE("a plugin may ship a prelinked program's file as its own image") {
  FakeToolkit machine;
  const auto cubin = sample_cubin();
  const auto fits = write_program_file(program_digest(sample_request(2)), 13000, cubin);
  const auto other = write_program_file(program_digest(sample_request(4)), 13000, cubin);
  const auto image = [](const std::vector<std::byte>& bytes) {
    DeviceImage out;
    out.name = "finished";
    out.kind = PURLIN_IMAGE_PROGRAM;
    out.base = 90;
    out.bytes = bytes;
    return out;
  };
  auto request = sample_request(2);
  request.finished = {image(other), image(fits)};
  ProgramStore store(container(machine, "none"));
  const auto outcome = store.get(request);
  REQUIRE_MESSAGE(outcome.program.is_ok(), outcome.program.status().message());
  CHECK((*outcome.program)->origin == ProgramOrigin::kPlugin);
  CHECK(outcome.trace.text().find("another program than the one asked for") != std::string::npos);
  auto cut = fits;
  cut.pop_back();
  request.finished = {image(cut)};
  const auto damaged = ProgramStore(container(machine, "none")).get(request);
  REQUIRE_FALSE(damaged.program.is_ok());
  CHECK(damaged.trace.text().find("warning: sm_90 finished program 'finished'") !=
        std::string::npos);
}
