#include "plugin/elf_check.h"

#include <fmt/format.h>

#include <bit>

#include "plugin/elf_dynamic.h"
#include "plugin/elf_view.h"

namespace purlin::plugin {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
constexpr const char* kMachineName = "x86-64";
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
constexpr const char* kMachineName = "aarch64";
#elif defined(__riscv)
constexpr uint16_t kMachine = EM_RISCV;
constexpr const char* kMachineName = "riscv64";
#elif defined(__powerpc64__)
constexpr uint16_t kMachine = EM_PPC64;
constexpr const char* kMachineName = "ppc64";
#else
#error "add this machine's EM_ number"
#endif
static_assert(sizeof(void*) == 8, "plugins are 64-bit ELF objects");

constexpr unsigned char kByteOrder =
    std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

const char* machine_name(uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_386:
      return "i386";
    case EM_AARCH64:
      return "aarch64";
    case EM_ARM:
      return "arm";
    case EM_PPC64:
      return "ppc64";
    case EM_RISCV:
      return "riscv";
    case EM_CUDA:
      return "NVIDIA GPU";
    default:
      return "unknown";
  }
}

const char* type_name(uint16_t type) {
  switch (type) {
    case ET_REL:
      return "an object file (.o)";
    case ET_EXEC:
      return "a program";
    case ET_CORE:
      return "a core dump";
    default:
      return "of unknown type";
  }
}

Verdict truncated(const ElfView& file, const std::string& what, uint64_t offset, uint64_t bytes) {
  return refuse("elf-truncated",
                fmt::format("{} needs {} bytes from offset {}, the file has {}", what, bytes,
                            offset, file.size()),
                "copy the file again; it is incomplete");
}

Verdict check_header(const ElfView& file, const Elf64_Ehdr& header) {
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != kByteOrder) {
    return refuse("elf-class",
                  fmt::format("ELF class {} and byte order {}; this process needs 2 and {}",
                              header.e_ident[EI_CLASS], header.e_ident[EI_DATA], kByteOrder),
                  fmt::format("build the plugin for 64-bit {}", kMachineName));
  }
  if (header.e_machine != kMachine) {
    return refuse(
        "elf-machine",
        fmt::format("built for {} (e_machine {}), this process is {} (e_machine {})",
                    machine_name(header.e_machine), header.e_machine, kMachineName, kMachine),
        fmt::format("install the plugin's build for {}", kMachineName));
  }
  if (header.e_type != ET_DYN) {
    return refuse(
        "elf-type",
        fmt::format("the file is {} (e_type {})", type_name(header.e_type), header.e_type),
        "link the plugin with -shared");
  }
  if (header.e_version != EV_CURRENT || header.e_ident[EI_VERSION] != EV_CURRENT ||
      header.e_phentsize != sizeof(Elf64_Phdr) ||
      (header.e_shnum != 0 && header.e_shentsize != sizeof(Elf64_Shdr))) {
    return refuse("elf-malformed", "ELF version or sizes of header entries are not standard",
                  "link the plugin again; the file is damaged");
  }
  const uint64_t program_bytes = uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  if (!file.holds(header.e_phoff, program_bytes)) {
    return truncated(file, "the table of segments", header.e_phoff, program_bytes);
  }
  const uint64_t section_bytes = uint64_t{header.e_shnum} * sizeof(Elf64_Shdr);
  if (!file.holds(header.e_shoff, section_bytes)) {
    return truncated(file, "the table of sections", header.e_shoff, section_bytes);
  }
  return accept("accepted");
}

Verdict check_segments(const ElfView& file, const Elf64_Ehdr& header, ElfSegments* segments,
                       Elf64_Phdr* dynamic) {
  bool has_dynamic = false;
  uint64_t previous_end = 0;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    const auto segment = file.read<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) return truncated(file, "the table of segments", header.e_phoff, 0);
    if (segment->p_type == PT_NULL) continue;
    if (!file.holds(segment->p_offset, segment->p_filesz)) {
      return truncated(file, fmt::format("segment {}", i), segment->p_offset, segment->p_filesz);
    }
    if (segment->p_type == PT_DYNAMIC) {
      *dynamic = *segment;
      has_dynamic = true;
    }
    if (segment->p_type != PT_LOAD) continue;
    // The loader maps segments over each other as they come: order and spacing are its safety.
    constexpr uint64_t kAddressLimit = uint64_t{1} << 46;
    const bool aligned = segment->p_align <= 1 || (std::has_single_bit(segment->p_align) &&
                                                   segment->p_vaddr % segment->p_align ==
                                                       segment->p_offset % segment->p_align);
    if (!aligned || segment->p_align > (uint64_t{1} << 30) ||
        segment->p_filesz > segment->p_memsz || segment->p_vaddr > kAddressLimit ||
        segment->p_memsz > kAddressLimit || segment->p_vaddr < previous_end) {
      return refuse("elf-malformed", fmt::format("segment {} overlaps, or is misaligned", i),
                    "link the plugin again; the file is damaged");
    }
    previous_end = segment->p_vaddr + segment->p_memsz;
    segments->add(*segment);
  }
  if (segments->empty() || !has_dynamic) {
    return refuse("elf-malformed", "the object has nothing to load, or no dynamic segment",
                  "link the plugin with -shared");
  }
  return accept("accepted");
}

Verdict check_sections(const ElfView& file, const Elf64_Ehdr& header) {
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const auto section = file.read<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return truncated(file, "the table of sections", header.e_shoff, 0);
    if (section->sh_type == SHT_NULL || section->sh_type == SHT_NOBITS) continue;
    if (!file.holds(section->sh_offset, section->sh_size)) {
      return truncated(file, fmt::format("section {}", i), section->sh_offset, section->sh_size);
    }
  }
  return accept("accepted");
}

}  // namespace

Verdict check_elf(std::span<const std::byte> bytes) {
  const ElfView file(bytes);
  if (!file.holds(0, SELFMAG) || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) {
    return refuse("not-elf",
                  bytes.empty() ? "the file is empty" : "the file does not begin with the ELF mark",
                  "put only plugins into this folder; copy the file again if it should be one");
  }
  const auto header = file.read<Elf64_Ehdr>(0);
  if (!header) return truncated(file, "the ELF header", 0, sizeof(Elf64_Ehdr));
  if (Verdict verdict = check_header(file, *header); !verdict.accepted) return verdict;
  ElfSegments segments;
  Elf64_Phdr dynamic{};
  if (Verdict verdict = check_segments(file, *header, &segments, &dynamic); !verdict.accepted) {
    return verdict;
  }
  if (Verdict verdict = check_sections(file, *header); !verdict.accepted) return verdict;
  return check_dynamic(file, *header, segments, dynamic);
}

}  // namespace purlin::plugin
