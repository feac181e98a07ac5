#include "tools/check/elf_facts.h"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

namespace purlin::tools::check {
namespace {

class File {
 public:
  explicit File(std::string bytes) : bytes_(std::move(bytes)) {}

  template <class T>
  std::optional<T> at(uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  // A text that ends within the file.
  std::string text(uint64_t offset) const {
    if (offset >= bytes_.size()) return "";
    const size_t end = bytes_.find('\0', offset);
    return end == std::string::npos ? "" : bytes_.substr(offset, end - offset);
  }

 private:
  std::string bytes_;
};

bool is_exported(const Elf64_Sym& symbol) {
  const auto binding = ELF64_ST_BIND(symbol.st_info);
  const auto visibility = ELF64_ST_VISIBILITY(symbol.st_other);
  return symbol.st_shndx != SHN_UNDEF && binding != STB_LOCAL &&
         (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

}  // namespace

tools::Outcome<ElfFacts> read_elf_facts(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const File file{{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()}};
  const auto header = file.at<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64)
    return Error{path + " is no 64-bit ELF file"};
  const auto section = [&](uint64_t index) {
    return file.at<Elf64_Shdr>(header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  ElfFacts facts;
  bool found = false;
  for (uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto table = section(i);
    if (!table || (table->sh_type != SHT_DYNSYM && table->sh_type != SHT_DYNAMIC)) continue;
    const auto names = section(table->sh_link);
    if (!names) continue;
    if (table->sh_type == SHT_DYNSYM) {
      found = true;
      for (uint64_t k = 1; k < table->sh_size / sizeof(Elf64_Sym); ++k) {
        const auto symbol = file.at<Elf64_Sym>(table->sh_offset + k * sizeof(Elf64_Sym));
        if (symbol && is_exported(*symbol))
          facts.exported.push_back(file.text(names->sh_offset + symbol->st_name));
      }
      continue;
    }
    for (uint64_t k = 0; k < table->sh_size / sizeof(Elf64_Dyn); ++k) {
      const auto entry = file.at<Elf64_Dyn>(table->sh_offset + k * sizeof(Elf64_Dyn));
      if (entry && entry->d_tag == DT_NEEDED)
        facts.needed.push_back(file.text(names->sh_offset + entry->d_un.d_val));
    }
  }
  if (!found) return Error{path + " has no table of dynamic symbols"};
  return facts;
}

}  // namespace purlin::tools::check
