#include "program/program_file.h"

#include <doctest/doctest.h>

#include "level.h"
#include "runtime/program/sample_cubin.h"

using namespace purlin;

namespace {
Digest some_digest(uint8_t first = 0xab) {
  Digest digest{};
  digest[0] = first;
  digest[31] = 1;
  return digest;
}
}  // namespace

TEST_CASE("a program file is laid out as documented and comes back whole") {
  const auto cubin = sample_cubin();
  const auto bytes = write_program_file(some_digest(), 13010, cubin);
  REQUIRE(bytes.size() == 96 + cubin.size());
  CHECK(std::string(reinterpret_cast<const char*>(bytes.data()), 8) == "PURLPROG");
  CHECK(std::to_integer<int>(bytes[8]) == 1);
  CHECK(std::to_integer<int>(bytes[12]) == (13010 & 255));
  CHECK(std::to_integer<int>(bytes[32]) == 0xab);
  const auto file = read_program_file(bytes);
  REQUIRE(file.is_ok());
  CHECK(file->digest == some_digest());
  CHECK(file->linker == 13010);
  CHECK(std::equal(file->cubin.begin(), file->cubin.end(), cubin.begin(), cubin.end()));
}

TEST_CASE("a program file that was cut or changed anywhere it counts is refused") {
  const auto cubin = sample_cubin();
  const auto whole = write_program_file(some_digest(), 13000, cubin);
  for (size_t length = 0; length < whole.size(); length += 7)
    CHECK_FALSE(read_program_file(std::span(whole).first(length)).is_ok());
  auto longer = whole;
  longer.push_back(std::byte{0});
  CHECK_FALSE(read_program_file(longer).is_ok());
  for (size_t at = 0; at < whole.size(); ++at) {
    auto changed = whole;
    changed[at] ^= std::byte{0x40};
    // The linker's release, the reserved words and the inputs' digest are compared by who asks.
    const bool free = (at >= 12 && at < 16) || (at >= 24 && at < 64);
    CHECK_MESSAGE(read_program_file(changed).is_ok() == free, "byte " << at);
  }
  test::count_cases(whole.size());
}

TEST_CASE("file names hold digest and release and are read back") {
  const Digest digest = some_digest();
  CHECK(program_file_name(digest, 13000) == hex(digest) + "-13.0.program");
  CHECK(program_file_name(digest, 12090) == hex(digest) + "-12.9.program");
  for (CudaRelease release : {13000u, 12090u, 13120u})
    CHECK(release_in_file_name(program_file_name(digest, release), digest) == release);
  CHECK(release_in_file_name(program_file_name(some_digest(1), 13000), digest) == 0);
  for (const char* end : {"", "-.program", "-13.program", "-13.0", "-13.0.program.tmp",
                          "-013.0.program", "-13.00.program", "-99999999999.0.program"})
    CHECK_MESSAGE(release_in_file_name(hex(digest) + end, digest) == 0, end);
}
