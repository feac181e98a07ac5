// Parts that must not become a program, and the words that say why.
#include <doctest/doctest.h>

#include <algorithm>

#include "program/finish.h"
#include "program/link.h"
#include "program/link_failure.h"
#include "runtime/program/link/toy.h"
#include "toy_atom.h"

#ifdef PURLIN_HAVE_CUDA
#include <nvJitLink.h>
#include <nvrtc.h>
#endif

using namespace purlin;

namespace {

// The error of linking and finishing `request`; empty if there is none.
std::string error_of(const ProgramRequest& request) {
  Toolbox tools(default_library_search());
  ProgramTrace trace;
  auto cubin = link_cubin(request, tools, trace);
  if (!cubin) return cubin.status().message();
  const auto program = finish_program(request, program_digest(request), ProgramOrigin::kLinked,
                                      13000, std::move(*cubin), trace);
  return program.is_ok() ? "" : program.status().message();
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("names of another device ABI do not link, and the words say which") {
  if (!have_toy_images()) return;
  const std::string error = error_of(misfit_request(0));
  CHECK_MESSAGE(contains(error, "program 'toy' for sm_90: nvJitLinkComplete of "), error);
  CHECK_MESSAGE(contains(error, "NVJITLINK_ERROR_"), error);
  CHECK_MESSAGE(contains(error, "no image of the program defines 'toy_move_d2'"), error);
  CHECK_MESSAGE(contains(error, "another device ABI than 2"), error);
}

TEST_CASE("a global of another device ABI is found after a link that the linker let pass") {
  if (!have_toy_images()) return;
  const std::string error = error_of(misfit_request(1));
  CHECK_MESSAGE(contains(error, "'purlin_device_abi_atom' of program 'toy' says device ABI 3"),
                error);
}

TEST_CASE("a constant that a program does not have is named") {
  if (!have_toy_images()) return;
  const std::string error = error_of(misfit_request(2));
  CHECK_MESSAGE(contains(error, "asks for the constant 'colour'"), error);
}

TEST_CASE("a part without its global is refused") {
  if (!have_toy_images()) return;
  auto request = toy_request(90);
  REQUIRE(request.is_ok());
  request->abi_globals.push_back("purlin_device_abi_other");
  CHECK(contains(error_of(*request), "defines the global 'purlin_device_abi_other'"));
}

TEST_CASE("an absent kernel is refused, with the kernels there are") {
  if (!have_toy_images()) return;
  auto request = toy_request(90);
  REQUIRE(request.is_ok());
  request->kernels = {"toy_programme"};
  CHECK(
      contains(error_of(*request), "has no kernel 'toy_programme', its kernels are: toy_program"));
}

TEST_CASE("the linker refuses exactly what check_architecture refuses") {
  if (!have_toy_images()) return;
  const auto atom = toy_images(toy_atom, toy_atom_count);
  for (const auto& image : atom) {
    if (image.role != PURLIN_IMAGE_CORE) continue;
    for (const uint32_t cc : {75u, 90u, 100u, 103u, 120u}) {
      auto request = toy_request(cc);
      REQUIRE(request.is_ok());
      request->images[1] = image;
      CAPTURE(describe(image));
      CAPTURE(cc);
      CHECK(error_of(*request).empty() == check_architecture(image, cc).is_ok());
    }
  }
}

TEST_CASE("an architecture that the linker does not know is told apart") {
  if (!have_toy_images()) return;
  auto request = toy_request(75);
  REQUIRE(request.is_ok());
  request->cc = 999;
  const std::string error = error_of(*request);
  CHECK_MESSAGE(contains(error, "this linker does not know the device"), error);
}

TEST_CASE("a source that does not compile brings the compiler's log") {
  if (!have_toy_images()) return;
  Toolbox tools(default_library_search());
  const auto compiler = tools.compiler();
  REQUIRE_MESSAGE(compiler.is_ok(), compiler.status().message());
  const auto broken = (*compiler)->compile("no code at all", "broken.cu");
  REQUIRE_FALSE(broken.is_ok());
  CHECK(broken.status().code() == PURLIN_LINK_ERROR);
  CHECK(contains(broken.status().message(), "nvrtcCompileProgram of "));
  CHECK(contains(broken.status().message(), "broken.cu(1): error"));
}

#ifdef PURLIN_HAVE_CUDA
TEST_CASE("the values we pass and meet are those of the toolkit's headers") {
  CHECK(kNvJitLinkInputCubin == NVJITLINK_INPUT_CUBIN);
  CHECK(kNvJitLinkInputLtoIr == NVJITLINK_INPUT_LTOIR);
  CHECK(kNvJitLinkInputFatbin == NVJITLINK_INPUT_FATBIN);
  CHECK(kNvJitLinkUnrecognizedArch == NVJITLINK_ERROR_UNRECOGNIZED_ARCH);
  CHECK(kNvJitLinkUnsupportedArch == NVJITLINK_ERROR_UNSUPPORTED_ARCH);
  CHECK(std::string(nvjitlink_result_name(NVJITLINK_ERROR_LTO_NOT_ENABLED)) ==
        "NVJITLINK_ERROR_LTO_NOT_ENABLED");
  CHECK(NVRTC_SUCCESS == 0);
  CHECK(NVJITLINK_SUCCESS == 0);
}
#endif
