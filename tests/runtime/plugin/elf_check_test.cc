#include "plugin/elf_check.h"

#include <doctest/doctest.h>
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "level.h"
#include "runtime/plugin/scratch.h"

using namespace purlin;
using namespace purlin::plugin;

namespace {

using Bytes = std::vector<std::byte>;

// The file with one field of its ELF header changed.
template <class T>
std::string rule_with(Bytes bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
  return check_elf(bytes).rule;
}

std::set<std::string> known_rules() {
  std::set<std::string> ids;
  for (const Rule& rule : rules()) ids.emplace(rule.id);
  return ids;
}

}  // namespace

TEST_CASE("a sound plugin passes") {
  const Verdict verdict = check_elf(test::read_bytes(test::built("sound")));
  CHECK_MESSAGE(verdict.accepted, verdict.reason);
}

TEST_CASE("what is no ELF file is told from what is a damaged one") {
  const std::string text = "#!/bin/sh\necho hello\n";
  Bytes script(text.size());
  std::memcpy(script.data(), text.data(), text.size());
  CHECK(check_elf(script).rule == "not-elf");
  CHECK(check_elf(Bytes{}).rule == "not-elf");
  Bytes mark(SELFMAG);
  std::memcpy(mark.data(), ELFMAG, SELFMAG);
  CHECK(check_elf(mark).rule == "elf-truncated");
}

TEST_CASE("each field of the ELF header has its verdict") {
  const Bytes sound = test::read_bytes(test::built("sound"));
  CHECK(rule_with<uint8_t>(sound, EI_CLASS, ELFCLASS32) == "elf-class");
  CHECK(rule_with<uint8_t>(sound, EI_DATA, ELFDATA2MSB) == "elf-class");
  CHECK(rule_with<uint16_t>(sound, offsetof(Elf64_Ehdr, e_machine), EM_S390) == "elf-machine");
  CHECK(rule_with<uint16_t>(sound, offsetof(Elf64_Ehdr, e_type), ET_REL) == "elf-type");
  CHECK(rule_with<uint16_t>(sound, offsetof(Elf64_Ehdr, e_type), ET_EXEC) == "elf-type");
  CHECK(rule_with<uint64_t>(sound, offsetof(Elf64_Ehdr, e_phoff), sound.size()) == "elf-truncated");
  CHECK(rule_with<uint64_t>(sound, offsetof(Elf64_Ehdr, e_shoff), ~0ull) == "elf-truncated");
  CHECK(rule_with<uint16_t>(sound, offsetof(Elf64_Ehdr, e_phnum), 0) == "elf-malformed");
  CHECK(rule_with<uint16_t>(sound, offsetof(Elf64_Ehdr, e_shnum), 0) == "elf-malformed");
  CHECK(rule_with<uint16_t>(sound, offsetof(Elf64_Ehdr, e_phentsize), 32) == "elf-malformed");
}

TEST_CASE("a program is no plugin") {
  CHECK(check_elf(test::read_bytes("/proc/self/exe")).rule == "elf-type");
}

TEST_CASE("entries of other ABI versions are named") {
  const auto rule = [](const char* file) { return check_elf(test::read_bytes(test::built(file))); };
  CHECK(rule("entry-hidden").rule == "entry-missing");
  CHECK(rule("entry-other").rule == "entry-missing");
  const Verdict newer = rule("entry-newer");
  CHECK(newer.rule == "abi-newer");
  CHECK(newer.reason.find("purlin_atom_entry_v2") != std::string::npos);
  CHECK(newer.reason.find(PURLIN_ATOM_ENTRY_NAME) != std::string::npos);
}

TEST_CASE("no beginning of a plugin passes for the whole") {
  const Bytes sound = test::read_bytes(test::built("sound"));
  const std::size_t step = test::is_full() ? 1 : 7;
  for (std::size_t size = 0; size < sound.size(); size += step) {
    const Verdict verdict = check_elf(std::span(sound).first(size));
    CHECK_MESSAGE(!verdict.accepted, size << " of " << sound.size() << " bytes");
    test::count_cases(1);
  }
  CHECK_FALSE(check_elf(std::span(sound).first(sound.size() - 1)).accepted);
}

TEST_CASE("damaged plugins get a known verdict and are never read beyond their end") {
  const Bytes sound = test::read_bytes(test::built("sound"));
  const std::set<std::string> known = known_rules();
  std::mt19937_64 random(test::seed() ^ 0xe1f);
  const int rounds = test::is_full() ? 200000 : 5000;
  std::set<std::string> met;
  for (int round = 0; round < rounds; ++round) {
    // Exactly as large as the content: a sanitizer sees a read behind it.
    Bytes bytes(sound.begin(),
                sound.end() - static_cast<long>(random() % 3 == 0 ? random() % 64 : 0));
    const std::size_t flips = 1 + random() % 8;
    for (std::size_t flip = 0; flip < flips; ++flip) {
      // Half of them in the headers at the front, where most decisions lie.
      const std::size_t range =
          random() % 2 ? bytes.size() : std::min<std::size_t>(1024, bytes.size());
      bytes[random() % range] ^= static_cast<std::byte>(1u << random() % 8);
    }
    const Verdict verdict = check_elf(bytes);
    met.insert(verdict.rule);
    CHECK_MESSAGE(known.contains(verdict.rule), verdict.rule);
    CHECK_MESSAGE((verdict.accepted || !verdict.reason.empty()), verdict.rule);
    test::count_cases(1);
  }
  // The sweep is worth something only if it reaches the deep checks as well as the first ones.
  for (const char* rule : {"accepted", "not-elf", "elf-truncated", "elf-malformed"}) {
    CHECK_MESSAGE(met.contains(rule), rule);
  }
}
