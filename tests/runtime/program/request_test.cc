#include "program/request.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "runtime/program/sample_images.h"

using namespace purlin;

namespace {
ProgramRequest sample() {
  ProgramRequest request;
  request.name = "copy";
  request.cc = 90;
  request.images = {sample_image("snac", 75), sample_image("atom", 90)};
  request.constants = {{"nranks", 2}, {"stages", 8}};
  request.threads = 512;
  request.kernels = {"purlin_throughput"};
  return request;
}
}  // namespace

TEST_CASE("registers are bounded so that the CTA can be launched") {
  CHECK(register_limit(1024) == 64);
  CHECK(register_limit(512) == 128);
  CHECK(register_limit(384) == 168);
  CHECK(register_limit(256) == 255);
  CHECK(register_limit(32) == 255);
}

TEST_CASE("every link settles the arithmetic") {
  const auto options = link_options(sample());
  for (const char* option : {"-arch=sm_90", "-lto", "-fma=0", "-ftz=0", "-prec-div=1",
                             "-prec-sqrt=1", "-maxrregcount=128"})
    CHECK_MESSAGE(std::count(options.begin(), options.end(), option) == 1, option);
}

TEST_CASE("every input changes the digest, but the name does not") {
  const std::vector<std::function<void(ProgramRequest&)>> changes = {
      [](auto& r) { r.cc = 100; },
      [](auto& r) { r.images.pop_back(); },
      [](auto& r) { std::swap(r.images[0], r.images[1]); },
      [](auto& r) { r.images[1] = sample_image("other", 90); },
      [](auto& r) { r.images[1].specific = 'a'; },
      [](auto& r) { r.constants[0].value = 3; },
      [](auto& r) { r.constants[0].name = "n"; },
      [](auto& r) { r.constants.pop_back(); },
      [](auto& r) { r.threads = 1024; },
      [](auto& r) { r.kernels = {"purlin_latency"}; },
  };
  std::set<Digest> seen = {program_digest(sample())};
  for (size_t i = 0; i < changes.size(); ++i) {
    auto request = sample();
    changes[i](request);
    CHECK_MESSAGE(seen.insert(program_digest(request)).second, "change " << i);
  }
  auto renamed = sample();
  renamed.name = "another";
  CHECK(program_digest(renamed) == program_digest(sample()));
}

TEST_CASE("what cannot become a program is refused before anything is linked") {
  CHECK(check_request(sample()).is_ok());
  const auto refuses = [](auto change, const char* words) {
    auto request = sample();
    change(request);
    const Status s = check_request(request);
    REQUIRE_FALSE(s.is_ok());
    CHECK_MESSAGE(s.message().find(words) != std::string::npos, s.message());
    CHECK(s.message().find("program 'copy'") == 0);
  };
  refuses([](auto& r) { r.threads = 0; }, "0 threads");
  refuses([](auto& r) { r.threads = 48; }, "multiple of 32");
  refuses([](auto& r) { r.threads = 2048; }, "2048 threads");
  refuses([](auto& r) { r.images.clear(); }, "no device image");
  refuses([](auto& r) { r.kernels.clear(); }, "names no kernel");
  refuses([](auto& r) { r.cc = 80; }, "older than the oldest it was compiled for, sm_90");
  refuses([](auto& r) { r.images[0].bytes = r.images[0].bytes.first(3); }, "is damaged");
  refuses([](auto& r) { r.constants[0].name = "A"; }, "program constant 'A'");
}
