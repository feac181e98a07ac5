#include "program/libraries.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "program/nvjitlink.h"
#include "program/nvrtc.h"
#include "runtime/program/fake_toolkit.h"

using namespace purlin;

TEST_CASE("a library is looked for in every folder, and each refusal is told") {
  const TemporaryFolder temporary;
  const auto none = SharedLibrary::open("libpurlin-no-such.so.1", {{"", temporary.path()}});
  REQUIRE_FALSE(none.is_ok());
  CHECK(none.status().code() == PURLIN_LINK_ERROR);
  const auto& text = none.status().message();
  CHECK(text.find("libpurlin-no-such.so.1 cannot be opened, tried:") == 0);
  CHECK(text.find("the loader's search path: ") != std::string::npos);
  CHECK(text.find(temporary.path() + ": ") != std::string::npos);
  CHECK_FALSE(SharedLibrary::open("x", {}).is_ok());
}

TEST_CASE("both libraries are found, and tell release and file") {
  const LibrarySearch search{{"/purlin/no/such/folder", PURLIN_FAKE_TOOLKIT}};
  const auto linker = NvJitLink::open(search);
  REQUIRE_MESSAGE(linker.is_ok(), linker.status().message());
  CHECK((*linker)->release() == 13000);
  CHECK((*linker)->path() == std::filesystem::canonical(PURLIN_FAKE_TOOLKIT).string() +
                                 "/libnvJitLink.so." + std::to_string(toolkit_major()));
  const auto compiler = Nvrtc::open(search);
  REQUIRE_MESSAGE(compiler.is_ok(), compiler.status().message());
  CHECK((*compiler)->release() == 13000);
}

TEST_CASE("a library of the right name without the functions is refused by function") {
  const TemporaryFolder temporary;
  const std::string major = std::to_string(toolkit_major());
  std::filesystem::copy_file(std::string(PURLIN_FAKE_TOOLKIT) + "/libnvrtc.so." + major,
                             temporary.at("libnvJitLink.so." + major));
  const auto linker = NvJitLink::open({{temporary.path()}});
  REQUIRE_FALSE(linker.is_ok());
  CHECK(linker.status().message().find("has no function nvJitLink") != std::string::npos);
}
