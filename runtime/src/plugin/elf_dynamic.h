// The dynamic part of an ELF object: the tables that the system's loader follows by address, and
// the symbols it exports.
#pragma once

#include "plugin/elf_view.h"
#include "plugin/verdict.h"

namespace purlin::plugin {

// `segments` and `dynamic` come from the same file and lie inside it. Refuses tables that leave the
// file, and objects that do not define the entry function; an entry of another ABI version is
// named.
Verdict check_dynamic(const ElfView& file, const Elf64_Ehdr& header, const ElfSegments& segments,
                      const Elf64_Phdr& dynamic);

}  // namespace purlin::plugin
