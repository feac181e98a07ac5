#include "program/cache.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/program_file.h"

namespace purlin {
namespace {

constexpr unsigned kCacheFileMode = 0600;

// Releases of the programs with this digest, newest first.
std::vector<CudaRelease> releases_of(const ProgramFolder& folder, const Digest& digest,
                                     ProgramTrace& trace) {
  std::vector<CudaRelease> out;
  const auto names = folder.names();
  if (!names) {
    trace.add(names.status().message());
    return out;
  }
  for (const auto& name : *names)
    if (const CudaRelease release = release_in_file_name(name, digest); release != 0)
      out.push_back(release);
  std::sort(out.rbegin(), out.rend());
  return out;
}

}  // namespace

std::optional<StoredProgram> find_program(const ProgramFolder& folder, const Digest& digest,
                                          std::optional<CudaRelease> linker, ProgramTrace& trace) {
  const auto releases =
      linker ? std::vector<CudaRelease>{*linker} : releases_of(folder, digest, trace);
  for (const CudaRelease release : releases) {
    const std::string name = program_file_name(digest, release);
    auto contents = folder.read(name);
    if (!contents) {
      trace.add("warning: not used: " + contents.status().message());
      continue;
    }
    if (!contents->found) continue;
    const auto file = read_program_file(contents->bytes);
    const bool named_right = file.is_ok() && file->digest == digest && file->linker == release;
    if (!named_right) {
      trace.add(fmt::format(
          "warning: {}/{} is not used: {}", folder.path(), name,
          file.is_ok() ? "its header belongs to another program" : file.status().message()));
      continue;
    }
    return StoredProgram{release, {file->cubin.begin(), file->cubin.end()}};
  }
  trace.add(fmt::format("{}: no program {}", folder.path(),
                        linker ? program_file_name(digest, *linker) : hex(digest)));
  return std::nullopt;
}

void keep_program(const ProgramFolder& folder, const Digest& digest, CudaRelease linker,
                  std::span<const std::byte> cubin, ProgramTrace& trace) {
  const Status s = folder.write(program_file_name(digest, linker),
                                write_program_file(digest, linker, cubin), kCacheFileMode);
  if (!s) trace.add("not kept in the cache: " + s.message());
}

}  // namespace purlin
