#include "program/cubin.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace purlin {
namespace {

// Attribute numbers of a .nv.info section, as cuobjdump -elf names them.
constexpr uint8_t kFormatSized = 0x04;        // the 2 bytes after it are a payload's length
constexpr uint8_t kAttrFrameSize = 0x11;      // symbol, bytes
constexpr uint8_t kAttrMinStackSize = 0x12;   // symbol, bytes
constexpr uint8_t kAttrRegisterCount = 0x2f;  // symbol, registers
constexpr uint8_t kEntryPoint = 0x10;         // bit of st_other
// From sm_90 on the system keeps the first KiB of a CTA's shared memory. Sections count it, the
// limit that devices tell (shared_bytes_per_block) does not.
constexpr const char* kReservedSection = ".nv.shared.reserved.0";
constexpr uint32_t kReservedBytes = 1024;

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  std::optional<T> at(uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T out;
    std::memcpy(&out, bytes_.data() + offset, sizeof(T));
    return out;
  }
  std::optional<std::span<const std::byte>> range(uint64_t offset, uint64_t length) const {
    if (offset > bytes_.size() || bytes_.size() - offset < length) return std::nullopt;
    return bytes_.subspan(offset, length);
  }

 private:
  std::span<const std::byte> bytes_;
};

struct Section {
  std::string name;
  Elf64_Shdr header;
  std::span<const std::byte> bytes;  // empty for SHT_NOBITS
};

std::string text_at(std::span<const std::byte> table, uint32_t offset) {
  if (offset >= table.size()) return {};
  const auto* start = reinterpret_cast<const char*>(table.data()) + offset;
  return std::string(start, strnlen(start, table.size() - offset));
}

Status no_cubin(const char* what) {
  return Status(PURLIN_LINK_ERROR, fmt::format("the bytes are no cubin: {}", what));
}

Result<std::vector<Section>> read_sections(const Reader& file) {
  const auto header = file.at<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return no_cubin("no 64-bit ELF header");
  if (header->e_machine != EM_CUDA) return no_cubin("an ELF file of another machine");
  std::vector<Section> out(header->e_shnum);
  for (size_t i = 0; i < out.size(); ++i) {
    const auto section = file.at<Elf64_Shdr>(header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return no_cubin("its section table reaches beyond its end");
    out[i].header = *section;
    if (section->sh_type == SHT_NOBITS) continue;
    const auto bytes = file.range(section->sh_offset, section->sh_size);
    if (!bytes) return no_cubin("a section reaches beyond its end");
    out[i].bytes = *bytes;
  }
  if (header->e_shstrndx >= out.size()) return no_cubin("it has no section names");
  for (auto& section : out)
    section.name = text_at(out[header->e_shstrndx].bytes, section.header.sh_name);
  return out;
}

// Calls visit(attribute, symbol, value) for each pair of words in a .nv.info section.
template <class Visit>
void walk_info(std::span<const std::byte> bytes, const Visit& visit) {
  const Reader info(bytes);
  for (uint64_t at = 0;;) {
    const auto format = info.at<uint8_t>(at), attribute = info.at<uint8_t>(at + 1);
    const auto length = info.at<uint16_t>(at + 2);
    if (!format || !attribute || !length) return;
    at += 4;
    if (*format != kFormatSized) continue;
    const auto symbol = info.at<uint32_t>(at), value = info.at<uint32_t>(at + 4);
    if (*length >= 8 && symbol && value) visit(*attribute, *symbol, *value);
    at += *length;
  }
}

}  // namespace

Result<CubinFacts> read_cubin(std::span<const std::byte> cubin) {
  auto sections = read_sections(Reader(cubin));
  if (!sections) return sections.status();
  const auto table = std::find_if(sections->begin(), sections->end(),
                                  [](const Section& s) { return s.header.sh_type == SHT_SYMTAB; });
  if (table == sections->end() || table->header.sh_link >= sections->size())
    return no_cubin("it has no symbols");
  const auto names = (*sections)[table->header.sh_link].bytes;

  CubinFacts out;
  std::map<uint32_t, size_t> kernel_of_symbol;
  const Reader symbols(table->bytes);
  for (uint32_t i = 0;; ++i) {
    const auto symbol = symbols.at<Elf64_Sym>(i * sizeof(Elf64_Sym));
    if (!symbol) break;
    const std::string name = text_at(names, symbol->st_name);
    const int type = ELF64_ST_TYPE(symbol->st_info);
    if (type == STT_FUNC && (symbol->st_other & kEntryPoint) != 0) {
      kernel_of_symbol[i] = out.kernels.size();
      KernelResources kernel;
      kernel.name = name;
      kernel.code_bytes = static_cast<uint32_t>(symbol->st_size);
      out.kernels.push_back(kernel);
    } else if (type == STT_OBJECT && symbol->st_size == 4 && symbol->st_shndx < sections->size()) {
      const Section& home = (*sections)[symbol->st_shndx];
      const auto value = Reader(home.bytes).at<uint32_t>(symbol->st_value - home.header.sh_addr);
      if (value) out.globals[name] = *value;
    }
  }
  const bool reserves = std::any_of(sections->begin(), sections->end(),
                                    [](const Section& s) { return s.name == kReservedSection; });
  for (const Section& section : *sections) {
    for (auto& kernel : out.kernels) {
      if (section.name != ".nv.shared." + kernel.name) continue;
      const auto size = static_cast<uint32_t>(section.header.sh_size);
      kernel.shared_bytes = size - (reserves ? std::min(size, kReservedBytes) : 0);
    }
    if (section.name != ".nv.info") continue;
    walk_info(section.bytes, [&](uint8_t attribute, uint32_t symbol, uint32_t value) {
      const auto found = kernel_of_symbol.find(symbol);
      if (found == kernel_of_symbol.end()) return;
      KernelResources& kernel = out.kernels[found->second];
      if (attribute == kAttrRegisterCount) kernel.registers = value;
      if (attribute == kAttrFrameSize || attribute == kAttrMinStackSize)
        kernel.local_bytes = std::max(kernel.local_bytes, value);
    });
  }
  return out;
}

}  // namespace purlin
