// What a shared object exports and needs, read from its file.
#pragma once

#include <string>
#include <vector>

#include "tools/outcome.h"

namespace purlin::tools::check {

struct ElfFacts {
  std::vector<std::string> exported;  // names of defined dynamic symbols that others can see
  std::vector<std::string> needed;    // libraries
};

// Of a 64-bit ELF file of this machine's byte order with section headers, which linkers write.
// Fails otherwise.
tools::Outcome<ElfFacts> read_elf_facts(const std::string& path);

}  // namespace purlin::tools::check
