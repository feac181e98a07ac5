#include "program/program_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace purlin {
namespace {

constexpr char kMagic[] = {'P', 'U', 'R', 'L', 'P', 'R', 'O', 'G'};
constexpr uint32_t kLayout = 1;
constexpr size_t kHeaderBytes = 96;
constexpr std::string_view kSuffix = ".program";

void put(std::vector<std::byte>& out, uint64_t number, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out.push_back(static_cast<std::byte>(number >> (8 * i)));
}

uint64_t get(std::span<const std::byte> bytes, size_t at, size_t count) {
  uint64_t out = 0;
  for (size_t i = 0; i < count; ++i) out |= std::to_integer<uint64_t>(bytes[at + i]) << (8 * i);
  return out;
}

Status damaged(const std::string& what) {
  return Status(PURLIN_LINK_ERROR, "it is no whole program file: " + what);
}

}  // namespace

std::vector<std::byte> write_program_file(const Digest& digest, CudaRelease linker,
                                          std::span<const std::byte> cubin) {
  std::vector<std::byte> out;
  out.reserve(kHeaderBytes + cubin.size());
  for (char c : kMagic) out.push_back(static_cast<std::byte>(c));
  put(out, kLayout, 4);
  put(out, linker, 4);
  put(out, cubin.size(), 8);
  put(out, 0, 8);
  for (const Digest& part : {digest, sha256(cubin)}) {
    const auto bytes = std::as_bytes(std::span(part));
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  out.insert(out.end(), cubin.begin(), cubin.end());
  return out;
}

Result<ProgramFile> read_program_file(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeaderBytes)
    return damaged(fmt::format("{} bytes, its header alone has {}", bytes.size(), kHeaderBytes));
  if (std::memcmp(bytes.data(), kMagic, sizeof(kMagic)) != 0)
    return damaged("it does not start with PURLPROG");
  if (const uint64_t layout = get(bytes, 8, 4); layout != kLayout)
    return damaged(fmt::format("layout {}, this Purlin reads {}", layout, kLayout));
  const uint64_t length = get(bytes, 16, 8);
  if (length != bytes.size() - kHeaderBytes)
    return damaged(fmt::format("it announces {} bytes of cubin, {} follow", length,
                               bytes.size() - kHeaderBytes));
  ProgramFile out;
  out.linker = static_cast<CudaRelease>(get(bytes, 12, 4));
  out.cubin = bytes.subspan(kHeaderBytes);
  std::memcpy(out.digest.data(), bytes.data() + 32, 32);
  const Digest expected = sha256(out.cubin);
  if (std::memcmp(expected.data(), bytes.data() + 64, 32) != 0)
    return damaged("its contents do not have the digest of its header");
  return out;
}

std::string program_file_name(const Digest& digest, CudaRelease linker) {
  return fmt::format("{}-{}{}", hex(digest), cuda_release_text(linker), kSuffix);
}

CudaRelease release_in_file_name(const std::string& name, const Digest& digest) {
  const std::string start = hex(digest) + "-";
  if (!name.starts_with(start) || !name.ends_with(kSuffix)) return 0;
  CudaRelease major = 0, minor = 0;
  const char* at = name.data() + start.size();
  const char* end = name.data() + name.size();
  const auto first = std::from_chars(at, end, major);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') return 0;
  const auto second = std::from_chars(first.ptr + 1, end, minor);
  if (second.ec != std::errc() || major > 999 || minor > 99) return 0;
  const CudaRelease release = major * 1000 + minor * 10;
  return name == program_file_name(digest, release) ? release : 0;
}

}  // namespace purlin
