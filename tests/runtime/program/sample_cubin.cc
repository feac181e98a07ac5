#include "runtime/program/sample_cubin.h"

#include <elf.h>

#include <cstring>

namespace purlin {
namespace {

class Bytes {
 public:
  template <class T>
  void add(const T& value) {
    const auto* p = reinterpret_cast<const std::byte*>(&value);
    data_.insert(data_.end(), p, p + sizeof(T));
  }
  // Offset of the text, which ends with a NUL.
  uint32_t text(const std::string& value) {
    const auto at = static_cast<uint32_t>(data_.size());
    for (char c : value) data_.push_back(static_cast<std::byte>(c));
    data_.push_back(std::byte{0});
    return at;
  }
  std::vector<std::byte>& data() { return data_; }

 private:
  std::vector<std::byte> data_;
};

}  // namespace

std::vector<std::byte> sample_cubin(const SampleCubin& what) {
  Bytes names, strings, symbols, info, globals, code;
  names.text("");
  strings.text("");
  const auto symbol = [&](const std::string& name, unsigned char type, unsigned char other,
                          uint16_t section, uint64_t value, uint64_t size) {
    Elf64_Sym s{};
    s.st_name = strings.text(name);
    s.st_info = static_cast<unsigned char>(ELF64_ST_INFO(STB_GLOBAL, type));
    s.st_other = other;
    s.st_shndx = section;
    s.st_value = value;
    s.st_size = size;
    symbols.add(s);
  };
  constexpr uint16_t kGlobals = 5, kCode = 6;
  symbols.add(Elf64_Sym{});
  symbol(what.kernel, STT_FUNC, 0x10, kCode, 0, 256);
  symbol("helper", STT_FUNC, 0, kCode, 0, 16);
  symbol("purlin_device_abi_snac", STT_OBJECT, 0, kGlobals, 0, 4);
  symbol("purlin_device_abi_atom", STT_OBJECT, 0, kGlobals, 4, 4);
  globals.add(what.snac_abi);
  globals.add(what.atom_abi);
  const auto attribute = [&](uint8_t number, uint32_t of_symbol, uint32_t value) {
    info.add(uint8_t{4});
    info.add(number);
    info.add(uint16_t{8});
    info.add(of_symbol);
    info.add(value);
  };
  attribute(0x2f, 1, what.registers);
  info.add(uint32_t{0x0101f003});  // an attribute with its value in place
  attribute(0x2f, 2, 200);         // of a function that is no kernel
  attribute(0x11, 1, what.frame_bytes);
  code.data().resize(256);

  Bytes file;
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = EM_CUDA;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = what.reserves ? 9 : 8;
  header.e_shstrndx = 1;
  std::vector<Elf64_Shdr> sections(1);
  file.add(header);
  const auto section = [&](const std::string& name, uint32_t type, Bytes* bytes, uint64_t size,
                           uint32_t link) {
    Elf64_Shdr s{};
    s.sh_name = names.text(name);
    s.sh_type = type;
    s.sh_offset = file.data().size();
    s.sh_size = bytes != nullptr ? bytes->data().size() : size;
    s.sh_link = link;
    sections.push_back(s);
    if (bytes != nullptr)
      file.data().insert(file.data().end(), bytes->data().begin(), bytes->data().end());
  };
  // The table of names is complete only after the last section was named; it goes to the end.
  sections.emplace_back();
  section(".strtab", SHT_STRTAB, &strings, 0, 0);
  section(".symtab", SHT_SYMTAB, &symbols, 0, 2);
  section(".nv.info", 0x70000000, &info, 0, 3);
  section(".nv.global.init", SHT_PROGBITS, &globals, 0, 0);
  section(".text." + what.kernel, SHT_PROGBITS, &code, 0, 0);
  section(".nv.shared." + what.kernel, SHT_NOBITS, nullptr, what.shared_bytes, 0);
  if (what.reserves) section(".nv.shared.reserved.0", SHT_NOBITS, nullptr, 0, 0);
  sections[1].sh_name = names.text(".shstrtab");
  sections[1].sh_type = SHT_STRTAB;
  sections[1].sh_offset = file.data().size();
  sections[1].sh_size = names.data().size();
  file.data().insert(file.data().end(), names.data().begin(), names.data().end());
  header.e_shoff = file.data().size();
  for (const auto& s : sections) file.add(s);
  std::memcpy(file.data().data(), &header, sizeof(header));
  return file.data();
}

}  // namespace purlin
