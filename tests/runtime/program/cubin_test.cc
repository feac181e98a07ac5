#include "program/cubin.h"

#include <doctest/doctest.h>

#include <random>

#include "level.h"
#include "runtime/program/sample_cubin.h"

using namespace purlin;

TEST_CASE("kernels, their resources and the version globals are read") {
  SampleCubin what;
  what.registers = 57;
  what.frame_bytes = 24;
  const auto facts = read_cubin(sample_cubin(what));
  REQUIRE_MESSAGE(facts.is_ok(), facts.status().message());
  REQUIRE(facts->kernels.size() == 1);
  const KernelResources& kernel = facts->kernels[0];
  CHECK(kernel.name == "sample_kernel");
  CHECK(kernel.registers == 57);
  CHECK(kernel.local_bytes == 24);
  CHECK(kernel.shared_bytes == 1024);
  CHECK(kernel.code_bytes == 256);
  CHECK(facts->globals.at("purlin_device_abi_snac") == PURLIN_ATOM_DEVICE_ABI);
  CHECK(facts->globals.at("purlin_device_abi_atom") == PURLIN_ATOM_DEVICE_ABI);
}

TEST_CASE("the KiB of shared memory that the system keeps is not the kernel's") {
  SampleCubin what;
  what.reserves = true;
  for (uint32_t size : {0u, 1024u, 1280u}) {
    what.shared_bytes = size;
    const auto facts = read_cubin(sample_cubin(what));
    REQUIRE_MESSAGE(facts.is_ok(), facts.status().message());
    CHECK(facts->kernels[0].shared_bytes == (size < 1024 ? 0 : size - 1024));
  }
}

TEST_CASE("a cubin cut short anywhere is refused or read, never beyond its end") {
  const auto whole = sample_cubin();
  for (size_t length = 0; length < whole.size(); ++length) {
    // A copy of exactly this size, so that AddressSanitizer sees a read beyond it.
    const std::vector<std::byte> part(whole.begin(), whole.begin() + static_cast<long>(length));
    CHECK_FALSE(read_cubin(part).is_ok());
  }
  test::count_cases(whole.size());
}

TEST_CASE("damaged bytes never make it read beyond the end") {
  std::mt19937_64 random(test::seed() + 1);
  const auto whole = sample_cubin();
  const int rounds = test::is_full() ? 20000 : 2000;
  int refused = 0;
  for (int i = 0; i < rounds; ++i) {
    auto bytes = whole;
    for (int k = 0; k < 4; ++k) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    refused += read_cubin(bytes).is_ok() ? 0 : 1;
  }
  CHECK(refused > 0);
  test::count_cases(static_cast<uint64_t>(rounds));
}

TEST_CASE("an ELF file of another machine is no cubin") {
  auto bytes = sample_cubin();
  bytes[18] = std::byte{62};  // e_machine: x86-64
  const auto facts = read_cubin(bytes);
  REQUIRE_FALSE(facts.is_ok());
  CHECK(facts.status().message().find("another machine") != std::string::npos);
}
