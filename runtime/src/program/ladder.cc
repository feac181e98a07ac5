#include "program/ladder.h"

#include <fmt/format.h>

#include <chrono>

#include "program/cache.h"
#include "program/finish.h"
#include "program/link.h"
#include "program/linker_memo.h"
#include "program/lock.h"
#include "program/program_file.h"

namespace purlin {
namespace {

class Climb {
 public:
  Climb(const ProgramRequest& request, const Digest& digest, const ProgramSources& sources,
        Toolbox& tools, ProgramTrace& trace)
      : request_(request), digest_(digest), sources_(sources), tools_(tools), trace_(trace) {}

  ProgramHandle from_plugin() {
    if (request_.finished.empty()) trace_.add("the plugin ships no finished program");
    for (const auto& image : request_.finished) {
      const auto file = read_program_file(image.bytes);
      if (!file) {
        trace_.add(fmt::format("warning: {}: {}", describe(image), file.status().message()));
      } else if (file->digest != digest_) {
        trace_.add(fmt::format("{}: another program than the one asked for", describe(image)));
      } else if (auto program = use(ProgramOrigin::kPlugin,
                                    {file->linker, {file->cubin.begin(), file->cubin.end()}})) {
        return program;
      }
    }
    return nullptr;
  }

  ProgramHandle from_prelinked() {
    for (const auto& path : sources_.prelinked) {
      const auto folder = ProgramFolder::open(path, Trust::kOwnOrRoot);
      if (!folder) {
        trace_.add("prelinked folder not used: " + folder.status().message());
      } else if (auto found = find_program(*folder, digest_, std::nullopt, trace_)) {
        if (auto program = use(ProgramOrigin::kPrelinked, std::move(*found))) return program;
      }
    }
    return nullptr;
  }

  // Opens the cache for this and the later steps.
  ProgramHandle from_cache() {
    if (sources_.cache.empty()) {
      trace_.add("there is no cache folder: neither PURLIN_CACHE_DIR nor HOME is set");
      return nullptr;
    }
    auto folder = ProgramFolder::create(sources_.cache, Trust::kOwn, 0700);
    if (!folder) {
      trace_.add("cache not used: " + folder.status().message());
      return nullptr;
    }
    cache_ = std::move(*folder);
    std::optional<CudaRelease> release = remembered_linker(*cache_, tools_.search());
    if (!release) {
      auto linker = tools_.linker();
      if (linker) {
        release = (*linker)->release();
        remember_linker(*cache_, tools_.search(), **linker, trace_);
      }
    }
    auto found = find_program(*cache_, digest_, release, trace_);
    return found ? use(ProgramOrigin::kCache, std::move(*found)) : nullptr;
  }

  // Whether the lock is held or cannot be had at all; false: another process holds it.
  bool lock(WhenBusy busy) {
    if (!cache_) return true;
    const std::chrono::milliseconds limit(busy == WhenBusy::kWait ? sources_.lock_timeout_ms : 0);
    auto taken = ProgramLock::take(*cache_, digest_, limit);
    if (!taken) {
      trace_.add("made without a lock: " + taken.status().message());
      return true;
    }
    if (taken->has_value()) {
      lock_ = std::move(**taken);
      return true;
    }
    if (busy == WhenBusy::kReturn) return false;
    trace_.add(fmt::format("another process holds the lock for more than {} ms, made without it",
                           sources_.lock_timeout_ms));
    return true;
  }

  Result<ProgramHandle> link() {
    auto linker = tools_.linker();
    if (cache_) {  // another process may have made it before we got the lock
      ProgramTrace again;
      const auto release = linker ? std::optional((*linker)->release()) : std::nullopt;
      if (auto found = find_program(*cache_, digest_, release, again)) {
        trace_.add("made by another process meanwhile");
        if (auto program = use(ProgramOrigin::kCache, std::move(*found))) return program;
      }
    }
    if (!linker) return without_tools(linker.status());
    if (!request_.constants.empty())
      if (auto compiler = tools_.compiler(); !compiler) return without_tools(compiler.status());
    const auto start = std::chrono::steady_clock::now();
    auto cubin = link_cubin(request_, tools_, trace_);
    if (!cubin) return cubin.status();
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - start);
    trace_.add(fmt::format("linked by {} ({}) in {} ms", (*linker)->path(),
                           cuda_release_text((*linker)->release()), took.count()));
    auto program = finish_program(request_, digest_, ProgramOrigin::kLinked, (*linker)->release(),
                                  std::move(*cubin), trace_);
    if (program && cache_)
      keep_program(*cache_, digest_, (*linker)->release(), (*program)->cubin, trace_);
    return program;
  }

 private:
  ProgramHandle use(ProgramOrigin origin, StoredProgram&& found) {
    auto program =
        finish_program(request_, digest_, origin, found.linker, std::move(found.cubin), trace_);
    if (program) return *program;
    trace_.add(fmt::format("warning: the program from the {} is not used: {}", origin_name(origin),
                           program.status().message()));
    return nullptr;
  }

  Status without_tools(const Status& why) {
    return Status(
        PURLIN_LINK_ERROR,
        fmt::format("program '{}' for sm_{} is not there and cannot be made: {}\ntried before:{}\n"
                    "remedies: install nvJitLink and NVRTC of CUDA {} (or set CUDA_HOME), or run "
                    "'purlin prelink --device sm_{} -o DIR' on a machine that has them and set "
                    "PURLIN_PROGRAM_PATH=DIR",
                    request_.name, request_.cc, why.message(), trace_.text(), toolkit_major(),
                    request_.cc));
  }

  const ProgramRequest& request_;
  const Digest& digest_;
  const ProgramSources& sources_;
  Toolbox& tools_;
  ProgramTrace& trace_;
  std::optional<ProgramFolder> cache_;
  std::optional<ProgramLock> lock_;
};

}  // namespace

ProgramHandle find_finished(const ProgramRequest& request, const Digest& digest,
                            const ProgramSources& sources, Toolbox& tools, ProgramTrace& trace) {
  Climb climb(request, digest, sources, tools, trace);
  if (auto program = climb.from_plugin()) return program;
  if (auto program = climb.from_prelinked()) return program;
  return climb.from_cache();
}

std::optional<Result<ProgramHandle>> climb(const ProgramRequest& request, const Digest& digest,
                                           const ProgramSources& sources, Toolbox& tools,
                                           WhenBusy busy, ProgramTrace& trace) {
  Climb climb(request, digest, sources, tools, trace);
  if (auto program = climb.from_plugin()) return program;
  if (auto program = climb.from_prelinked()) return program;
  if (auto program = climb.from_cache()) return program;
  if (!climb.lock(busy)) return std::nullopt;
  return climb.link();
}

}  // namespace purlin
