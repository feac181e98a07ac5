// The whole ladder with the real toolkit: link, cache, prelinked folder, and no toolkit at all.
#include <doctest/doctest.h>

#include "program/prelink.h"
#include "program/store.h"
#include "runtime/program/link/toy.h"
#include "runtime/program/temporary_folder.h"

using namespace purlin;

namespace {

ProgramOrigin origin_of(const ProgramOutcome& outcome) {
  REQUIRE_MESSAGE(outcome.program.is_ok(), outcome.program.status().message());
  return (*outcome.program)->origin;
}

}  // namespace

TEST_CASE("a real program is linked in parallel with others, cached, prelinked and served") {
  if (!have_toy_images()) return;
  TemporaryFolder temporary;
  std::vector<ProgramRequest> requests;
  for (const uint64_t nranks : {2ull, 4ull, 8ull}) {
    auto request = toy_request(90, nranks);
    REQUIRE(request.is_ok());
    requests.push_back(std::move(*request));
  }
  ProgramSources sources;
  sources.cache = temporary.at("cache");
  sources.libraries = default_library_search();
  sources.jobs = 2;
  std::vector<std::vector<std::byte>> linked;
  {
    ProgramStore store(sources);
    for (const auto& outcome : store.get_all(requests)) {
      CHECK(origin_of(outcome) == ProgramOrigin::kLinked);
      linked.push_back((*outcome.program)->cubin);
    }
  }
  CHECK(linked[0] != linked[1]);

  ProgramSources bare = sources;  // a driver and no toolkit
  bare.libraries.folders = {temporary.at("nowhere")};
  {
    ProgramStore store(bare);
    const auto outcomes = store.get_all(requests);
    for (size_t i = 0; i < outcomes.size(); ++i) {
      CHECK(origin_of(outcomes[i]) == ProgramOrigin::kCache);
      CHECK((*outcomes[i].program)->cubin == linked[i]);
    }
  }

  PrelinkOptions options;
  options.output_directory = temporary.at("programs");
  options.device = "sm_90";
  options.libraries = default_library_search();
  const auto manifest = prelink(requests, options);
  REQUIRE_MESSAGE(manifest.is_ok(), manifest.status().message());
  bare.cache.clear();
  CHECK_FALSE(ProgramStore(bare).get(requests[0]).program.is_ok());
  bare.prelinked = {options.output_directory};
  const auto prelinked = ProgramStore(bare).get(requests[0]);
  CHECK(origin_of(prelinked) == ProgramOrigin::kPrelinked);
  CHECK((*prelinked.program)->cubin == linked[0]);
}
