#include "plugin/elf_dynamic.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <string>
#include <vector>

#include "purlin/atom_abi.h"

namespace purlin::plugin {
namespace {

constexpr std::string_view kEntry = PURLIN_ATOM_ENTRY_NAME;
constexpr std::string_view kEntryStem = "purlin_atom_entry_v";

using Tags = std::map<int64_t, uint64_t>;

Verdict malformed(std::string what) {
  return refuse("elf-malformed", std::move(what), "link the plugin again; the file is damaged");
}

// Tables given as an address and a size in bytes.
struct Table {
  int64_t address;
  int64_t size;
  const char* name;
};
constexpr Table kTables[] = {
    {DT_STRTAB, DT_STRSZ, "DT_STRTAB"},
    {DT_RELA, DT_RELASZ, "DT_RELA"},
    {DT_JMPREL, DT_PLTRELSZ, "DT_JMPREL"},
    {DT_INIT_ARRAY, DT_INIT_ARRAYSZ, "DT_INIT_ARRAY"},
    {DT_FINI_ARRAY, DT_FINI_ARRAYSZ, "DT_FINI_ARRAY"},
};

Verdict check_tables(const ElfSegments& segments, const Tags& tags,
                     const std::vector<uint64_t>& needed) {
  for (const Table& table : kTables) {
    const auto address = tags.find(table.address);
    const auto size = tags.find(table.size);
    if (address == tags.end() && size == tags.end()) continue;
    if (address == tags.end() || size == tags.end() ||
        !segments.offset_of(address->second, size->second)) {
      return malformed(fmt::format("{} points outside the object's segments", table.name));
    }
  }
  for (const int64_t tag : {int64_t{DT_SYMTAB}, int64_t{DT_STRTAB}, int64_t{DT_STRSZ}}) {
    if (!tags.contains(tag)) return malformed(fmt::format("dynamic tag {} is missing", tag));
  }
  for (const uint64_t name : needed) {
    if (name >= tags.at(DT_STRSZ)) return malformed("the name of a needed library has no place");
  }
  for (const int64_t tag : {int64_t{DT_HASH}, int64_t{DT_GNU_HASH}, int64_t{DT_VERSYM},
                            int64_t{DT_VERNEED}, int64_t{DT_INIT}, int64_t{DT_FINI}}) {
    const auto address = tags.find(tag);
    if (address != tags.end() && !segments.offset_of(address->second, 4)) {
      return malformed(fmt::format("dynamic tag {} points outside the object's segments", tag));
    }
  }
  return accept("accepted");
}

// Where the dynamic symbols lie in the file. The count is known only from the section headers.
struct SymbolTable {
  uint64_t offset = 0;
  uint64_t count = 0;
};
std::optional<SymbolTable> find_symbols(const ElfView& file, const Elf64_Ehdr& header,
                                        const ElfSegments& segments, uint64_t address) {
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const auto section = file.read<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr));
    if (!section || section->sh_type != SHT_DYNSYM) continue;
    const auto offset = segments.offset_of(address, section->sh_size);
    if (section->sh_addr != address || section->sh_entsize != sizeof(Elf64_Sym) || !offset ||
        *offset != section->sh_offset || !file.holds(*offset, section->sh_size)) {
      return std::nullopt;
    }
    return SymbolTable{*offset, section->sh_size / sizeof(Elf64_Sym)};
  }
  return std::nullopt;
}

bool exported_function(const Elf64_Sym& symbol) {
  const unsigned bind = ELF64_ST_BIND(symbol.st_info);
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  const unsigned seen = ELF64_ST_VISIBILITY(symbol.st_other);
  return symbol.st_shndx != SHN_UNDEF && (bind == STB_GLOBAL || bind == STB_WEAK) &&
         type == STT_FUNC && (seen == STV_DEFAULT || seen == STV_PROTECTED);
}

// The major version in the name of an entry of this or another ABI.
std::optional<unsigned> entry_major(std::string_view name) {
  if (!name.starts_with(kEntryStem)) return std::nullopt;
  const char* end = name.data() + name.size();
  unsigned major = 0;
  const auto parsed = std::from_chars(name.data() + kEntryStem.size(), end, major);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return major;
}

Verdict other_version(unsigned major) {
  const std::string reason =
      fmt::format("the plugin exports {}{} (ABI {}), this library serves {} (ABI {}.{})",
                  kEntryStem, major, major, kEntry, PURLIN_ATOM_ABI_MAJOR, PURLIN_ATOM_ABI_MINOR);
  if (major > PURLIN_ATOM_ABI_MAJOR) {
    return refuse("abi-newer", reason, "update Purlin, or install the plugin's build for this ABI");
  }
  return refuse("abi-older", reason, "rebuild the plugin against this version's SDK");
}

}  // namespace

Verdict check_dynamic(const ElfView& file, const Elf64_Ehdr& header, const ElfSegments& segments,
                      const Elf64_Phdr& dynamic) {
  const auto dynamic_offset = segments.offset_of(dynamic.p_vaddr, dynamic.p_filesz);
  if (!dynamic_offset || *dynamic_offset != dynamic.p_offset) {
    return malformed("the dynamic segment is not part of a loaded one");
  }
  Tags tags;
  std::vector<uint64_t> needed;
  bool ended = false;
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic.p_filesz; at += sizeof(Elf64_Dyn)) {
    const auto entry = file.read<Elf64_Dyn>(*dynamic_offset + at);
    if (!entry) return malformed("the dynamic segment leaves the file");
    if (entry->d_tag == DT_NULL) {
      ended = true;
      break;
    }
    if (entry->d_tag == DT_NEEDED) {
      needed.push_back(entry->d_un.d_val);
    } else {
      tags[entry->d_tag] = entry->d_un.d_val;
    }
  }
  if (!ended) return malformed("the dynamic segment has no end mark");
  if (const auto flags = tags.find(DT_FLAGS_1); flags != tags.end() && flags->second & DF_1_PIE) {
    return refuse("elf-type", "the file is a position-independent program",
                  "link the plugin with -shared");
  }
  if (Verdict verdict = check_tables(segments, tags, needed); !verdict.accepted) return verdict;
  const auto symbols = find_symbols(file, header, segments, tags[DT_SYMTAB]);
  if (!symbols)
    return malformed("the dynamic symbols have no section header that agrees with them");
  const uint64_t strings = *segments.offset_of(tags[DT_STRTAB], tags[DT_STRSZ]);
  const uint64_t strings_end = strings + tags[DT_STRSZ];
  std::optional<unsigned> other;
  for (uint64_t i = 0; i < symbols->count; ++i) {
    const auto symbol = file.read<Elf64_Sym>(symbols->offset + i * sizeof(Elf64_Sym));
    if (!symbol || symbol->st_name >= strings_end - strings) {
      return malformed(fmt::format("symbol {} has its name outside the string table", i));
    }
    if (!exported_function(*symbol)) continue;
    const auto name = file.text(strings + symbol->st_name, strings_end);
    if (!name) return malformed(fmt::format("the name of symbol {} has no end", i));
    if (*name == kEntry) return accept("accepted");
    if (const auto major = entry_major(*name)) other = major;
  }
  if (other) return other_version(*other);
  return refuse(
      "entry-missing", fmt::format("{} is not among the functions that the object exports", kEntry),
      fmt::format("this is no Atom plugin; an author exports {} with PURLIN_ATOM_EXPORT", kEntry));
}

}  // namespace purlin::plugin
