// How long the programs of a policy take: to link one after another and at once, to read from a
// cache.
//
//   bench_runtime_program DEVICE RANKS POLICY [JSON-FILE]
//
// Needs NVRTC and nvJitLink and no GPU. Programs go into a folder that is removed at the end. One
// JSON line a program and one for the whole; processor time beside the clock's tells whether the
// machine was busy.
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "api/device_programs.h"
#include "program/store.h"
#include "program/toolbox.h"
#include "purlin/purlin.h"

namespace {

using namespace purlin;
using Json = nlohmann::ordered_json;

double ms_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

struct Spent {
  double wall_ms = 0;
  double cpu_ms = 0;  // of all threads of the process
};

template <class Work>
Spent measure(const Work& work) {
  const double wall = ms_of(CLOCK_MONOTONIC), cpu = ms_of(CLOCK_PROCESS_CPUTIME_ID);
  work();
  return {ms_of(CLOCK_MONOTONIC) - wall, ms_of(CLOCK_PROCESS_CPUTIME_ID) - cpu};
}

[[noreturn]] void fail(const Status& status) {
  fmt::print(stderr, "bench_runtime_program: {}\n", status.message());
  exit(1);
}

// In a process of its own: linkers remember what a process linked before.
template <class Work>
Spent measure_apart(const Work& work) {
  int ends[2];
  if (pipe(ends) != 0) fail(Status(PURLIN_SYSTEM_ERROR, "pipe failed"));
  const pid_t child = fork();
  if (child < 0) fail(Status(PURLIN_SYSTEM_ERROR, "fork failed"));
  if (child == 0) {
    const Spent spent = measure(work);
    _exit(write(ends[1], &spent, sizeof spent) == sizeof spent ? 0 : 1);
  }
  close(ends[1]);
  Spent spent;
  const bool whole = read(ends[0], &spent, sizeof spent) == sizeof spent;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!whole || status != 0) exit(1);  // the child said why
  return spent;
}

// All of `requests` from a new store, which must get each in the way of `expected`.
void get_all(const std::vector<ProgramRequest>& requests, const ProgramSources& sources,
             ProgramOrigin expected) {
  ProgramStore store(sources);
  for (const auto& outcome : store.get_all(requests)) {
    if (!outcome.program) fail(outcome.program.status());
    if ((*outcome.program)->origin != expected)
      fail(Status(PURLIN_INTERNAL,
                  fmt::format("program '{}' came from the {} instead of the {}:{}",
                              (*outcome.program)->name, origin_name((*outcome.program)->origin),
                              origin_name(expected), outcome.trace.text())));
  }
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

Json machine() {
  utsname system{};
  uname(&system);
  double load = 0;
  getloadavg(&load, 1);
  return {{"processor", processor()},
          {"processors", std::thread::hardware_concurrency()},
          {"load_average", load},
          {"kernel", system.release},
          {"build", purlin_version()}};
}

struct OneProgram {
  std::string name;
  Spent cold;
  ProgramHandle program;
};

// One after another, without a cache: what each costs by itself.
std::vector<OneProgram> link_each(const std::vector<ProgramRequest>& requests,
                                  const LibrarySearch& libraries) {
  ProgramSources sources;
  sources.libraries = libraries;
  sources.jobs = 1;
  ProgramStore store(sources);
  std::vector<OneProgram> out;
  for (const auto& request : requests) {
    OneProgram one{request.name, {}, nullptr};
    one.cold = measure([&] {
      const auto outcome = store.get(request);
      if (!outcome.program) fail(outcome.program.status());
      one.program = *outcome.program;
    });
    out.push_back(std::move(one));
  }
  return out;
}

Json json_of(const Spent& spent) { return {{"wall_ms", spent.wall_ms}, {"cpu_ms", spent.cpu_ms}}; }

std::string row(const std::string& what, const Spent& spent) {
  return fmt::format("| {} | {:.0f} | {:.0f} |\n", what, spent.wall_ms, spent.cpu_ms);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc > 5) {
    fmt::print(stderr, "usage: bench_runtime_program DEVICE RANKS POLICY [JSON-FILE]\n");
    return 2;
  }
  const auto programs = device_programs({argv[1], argv[3], atoi(argv[2])});
  if (!programs) fail(programs.status());
  const auto& requests = programs->requests;
  const LibrarySearch libraries = default_library_search();

  const Spent open = measure_apart([&] {
    Toolbox tools(libraries);
    if (const auto linker = tools.linker(); !linker) fail(linker.status());
    if (const auto compiler = tools.compiler(); !compiler) fail(compiler.status());
  });
  const Spent first = measure_apart([&] { link_each({requests.front()}, libraries); });

  char folder[] = "/tmp/purlin-bench-XXXXXX";
  if (mkdtemp(folder) == nullptr) fail(Status(PURLIN_SYSTEM_ERROR, "mkdtemp failed"));
  ProgramSources sources;
  sources.libraries = libraries;
  sources.cache = std::string(folder) + "/cache";
  const Spent together = measure_apart([&] { get_all(requests, sources, ProgramOrigin::kLinked); });
  const Spent cached = measure_apart([&] { get_all(requests, sources, ProgramOrigin::kCache); });
  ProgramSources bare = sources;
  bare.libraries.folders = {std::string(folder) + "/no toolkit"};
  const Spent without = measure_apart([&] { get_all(requests, bare, ProgramOrigin::kCache); });
  std::filesystem::remove_all(folder);
  auto each = link_each(requests, libraries);

  std::sort(each.begin(), each.end(),
            [](const auto& a, const auto& b) { return a.cold.cpu_ms < b.cold.cpu_ms; });
  Spent sum;
  size_t bytes = 0;
  for (const auto& one : each) {
    sum.wall_ms += one.cold.wall_ms;
    sum.cpu_ms += one.cold.cpu_ms;
    bytes += one.program->cubin.size();
  }
  const OneProgram& median = each[each.size() / 2];
  fmt::print("{} programs of policy '{}' for {} at {} ranks, Atom {}, {} KiB of cubins\n\n",
             each.size(), programs->policy, argv[1], argv[2], programs->atom, bytes >> 10);
  fmt::print("| what | clock, ms | processor, ms |\n|---|---|---|\n{}{}{}{}{}{}{}{}{}",
             row("open nvJitLink and NVRTC", open), row("the process's first link", first),
             row("one program: least", each.front().cold), row("one program: median", median.cold),
             row("one program: most", each.back().cold), row("all, one after another", sum),
             row(fmt::format("all at once on {} processors", std::thread::hardware_concurrency()),
                 together),
             row("all from the cache", cached),
             row("all from the cache, no toolkit there", without));

  if (argc < 5) return 0;
  std::ofstream file(argv[4], std::ios::app);
  for (const auto& one : each) {
    const KernelResources& kernel = one.program->kernels.front();
    file << Json{{"bench", "program"},
                 {"program", one.name},
                 {"device", argv[1]},
                 {"cold", json_of(one.cold)},
                 {"registers", kernel.registers},
                 {"static_shared_bytes", kernel.shared_bytes},
                 {"local_bytes", kernel.local_bytes},
                 {"code_bytes", kernel.code_bytes},
                 {"cubin_bytes", one.program->cubin.size()}}
                .dump()
         << '\n';
  }
  file << Json{{"bench", "programs"},
               {"device", argv[1]},
               {"ranks", atoi(argv[2])},
               {"policy", programs->policy},
               {"atom", programs->atom},
               {"programs", each.size()},
               {"cubin_bytes", bytes},
               {"open", json_of(open)},
               {"first", json_of(first)},
               {"one_after_another", json_of(sum)},
               {"at_once", json_of(together)},
               {"cached", json_of(cached)},
               {"cached_without_toolkit", json_of(without)},
               {"machine", machine()}}
              .dump()
       << '\n';
  file.flush();
  if (!file) fail(Status(PURLIN_SYSTEM_ERROR, fmt::format("'{}' cannot be written", argv[4])));
  return 0;
}
