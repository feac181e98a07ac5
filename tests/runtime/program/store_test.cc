#include "program/store.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "program/lock.h"
#include "program/program_file.h"
#include "runtime/program/child.h"
#include "runtime/program/fake_toolkit.h"

using namespace purlin;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

ProgramOutcome get(const ProgramSources& sources,
                   const ProgramRequest& request = sample_request()) {
  return ProgramStore(sources).get(request);
}

ProgramOrigin origin_of(const ProgramOutcome& outcome) {
  REQUIRE_MESSAGE(outcome.program.is_ok(), outcome.program.status().message());
  return (*outcome.program)->origin;
}

std::string file_of(const FakeToolkit& machine, const ProgramRequest& request = sample_request()) {
  return machine.cache() + "/" + program_file_name(program_digest(request), 13000);
}

}  // namespace

TEST_CASE("a program is linked once, then comes from the cache, then from memory") {
  FakeToolkit machine;
  ProgramStore store(machine.sources());
  CHECK(store.peek(sample_request()) == nullptr);
  const auto linked = store.get(sample_request());
  CHECK(origin_of(linked) == ProgramOrigin::kLinked);
  CHECK((*linked.program)->linker == 13000);
  CHECK((*linked.program)->kernel("sample_kernel")->registers == 40);
  CHECK(contains(linked.trace.text(), "the plugin ships no finished program"));
  CHECK(contains(linked.trace.text(), "no program " + hex(program_digest(sample_request()))));
  CHECK(contains(linked.trace.text(), "linked by "));
  CHECK(store.peek(sample_request()) == *linked.program);
  CHECK(*store.get(sample_request()).program == *linked.program);
  const auto cached = get(machine.sources());
  CHECK(origin_of(cached) == ProgramOrigin::kCache);
  CHECK((*cached.program)->cubin == (*linked.program)->cubin);
  CHECK(machine.links() == 1);
}

TEST_CASE("another input is another program") {
  FakeToolkit machine;
  ProgramStore store(machine.sources());
  CHECK(origin_of(store.get(sample_request(2))) == ProgramOrigin::kLinked);
  CHECK(origin_of(store.get(sample_request(4))) == ProgramOrigin::kLinked);
  CHECK(machine.links() == 2);
}

TEST_CASE("with everything cached no library is opened, and none is needed") {
  FakeToolkit machine;
  CHECK(origin_of(get(machine.sources())) == ProgramOrigin::kLinked);
  CHECK(origin_of(get(machine.without_libraries())) == ProgramOrigin::kCache);
}

TEST_CASE("with neither linker nor program the error names both remedies and the whole way") {
  FakeToolkit machine;
  auto sources = machine.without_libraries();
  sources.prelinked = {machine.at("absent")};
  const auto outcome = get(sources);
  REQUIRE_FALSE(outcome.program.is_ok());
  CHECK(outcome.program.status().code() == PURLIN_LINK_ERROR);
  const std::string text = outcome.program.status().message();
  for (const std::string& part :
       {std::string("program 'sample-n2' for sm_90 is not there and cannot be made"),
        std::string("libnvJitLink.so."), machine.at("nowhere"), machine.at("absent"),
        machine.cache(), std::string("the plugin ships no finished program"),
        std::string("install nvJitLink and NVRTC"), std::string("purlin prelink --device sm_90"),
        std::string("PURLIN_PROGRAM_PATH=DIR")})
    CHECK_MESSAGE(contains(text, part), text);
}

TEST_CASE("a damaged cache entry is a miss with a warning, and is replaced") {
  FakeToolkit machine;
  CHECK(origin_of(get(machine.sources())) == ProgramOrigin::kLinked);
  const std::string file = file_of(machine);
  const auto size = std::filesystem::file_size(file);
  size_t links = 1;
  for (const bool cut : {true, false}) {
    if (cut) {
      std::filesystem::resize_file(file, size / 2);
    } else {
      std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
      stream.seekp(static_cast<std::streamoff>(size) - 1);
      stream.put('\x55');
    }
    const auto again = get(machine.sources());
    CHECK(origin_of(again) == ProgramOrigin::kLinked);
    CHECK(contains(again.trace.text(),
                   "warning: " + file + " is not used: it is no whole program file"));
    CHECK(machine.links() == ++links);
    CHECK(origin_of(get(machine.sources())) == ProgramOrigin::kCache);
  }
}

TEST_CASE("an entry under another program's name is not used") {
  FakeToolkit machine;
  CHECK(origin_of(get(machine.sources(), sample_request(2))) == ProgramOrigin::kLinked);
  std::filesystem::copy_file(file_of(machine, sample_request(2)),
                             file_of(machine, sample_request(4)));
  const auto outcome = get(machine.sources(), sample_request(4));
  CHECK(origin_of(outcome) == ProgramOrigin::kLinked);
  CHECK(contains(outcome.trace.text(), "its header belongs to another program"));
}

TEST_CASE("a cache that others may write is not used, and the program is linked all the same") {
  FakeToolkit machine;
  CHECK(origin_of(get(machine.sources())) == ProgramOrigin::kLinked);
  REQUIRE(chmod(machine.cache().c_str(), 0777) == 0);
  const auto outcome = get(machine.sources());
  CHECK(origin_of(outcome) == ProgramOrigin::kLinked);
  CHECK(contains(outcome.trace.text(), "cache not used: "));
  CHECK(contains(outcome.trace.text(), "chmod go-w " + machine.cache()));
}

TEST_CASE("a cached file that others may write is linked anew") {
  FakeToolkit machine;
  CHECK(origin_of(get(machine.sources())) == ProgramOrigin::kLinked);
  REQUIRE(chmod(file_of(machine).c_str(), 0666) == 0);
  const auto outcome = get(machine.sources());
  CHECK(origin_of(outcome) == ProgramOrigin::kLinked);
  CHECK(contains(outcome.trace.text(), "chmod go-w " + file_of(machine)));
}

TEST_CASE("a cache that cannot be written costs time and is no error") {
  FakeToolkit machine;
  auto sources = machine.sources();
  std::ofstream(machine.at("file")) << "x";
  sources.cache = machine.at("file/cache");
  const auto outcome = get(sources);
  CHECK(origin_of(outcome) == ProgramOrigin::kLinked);
  CHECK(contains(outcome.trace.text(), "cache not used: mkdir of "));
  sources.cache.clear();
  CHECK(contains(get(sources).trace.text(), "there is no cache folder"));
}

TEST_CASE("a read-only cache is read and not written") {
  constexpr uid_t kNobody = 65534;
  FakeToolkit machine;
  CHECK(origin_of(get(machine.sources(), sample_request(2))) == ProgramOrigin::kLinked);
  const bool root = geteuid() == 0;
  if (root) {  // who is bound by no mode: act as somebody who is
    for (const auto& entry : std::filesystem::directory_iterator(machine.cache()))
      REQUIRE(chown(entry.path().c_str(), kNobody, kNobody) == 0);
    REQUIRE(chown(machine.cache().c_str(), kNobody, kNobody) == 0);
    REQUIRE(chmod(machine.at("").c_str(), 0755) == 0);
    REQUIRE(chmod(machine.at("links").c_str(), 0666) == 0);
  }
  for (const auto& entry : std::filesystem::directory_iterator(machine.cache()))
    if (entry.path().filename().string().starts_with(".lock"))
      std::filesystem::remove(entry.path());
  REQUIRE(chmod(machine.cache().c_str(), 0500) == 0);
  const int status = wait_child(start_child([&] {
    if (root && setuid(kNobody) != 0) return 1;
    const auto cached = get(machine.sources(), sample_request(2));
    if (!cached.program || (*cached.program)->origin != ProgramOrigin::kCache) return 2;
    const auto linked = get(machine.sources(), sample_request(4));
    if (!linked.program || (*linked.program)->origin != ProgramOrigin::kLinked) return 3;
    if (!contains(linked.trace.text(), "made without a lock: ")) return 4;
    return contains(linked.trace.text(), "not kept in the cache: ") ? 0 : 5;
  }));
  CHECK(status == 0);
}

TEST_CASE("a link that fails is an error with its log, and the next caller tries again") {
  FakeToolkit machine;
  ProgramStore store(machine.sources());
  machine.fails.set("1");
  const auto failed = store.get(sample_request());
  REQUIRE_FALSE(failed.program.is_ok());
  CHECK(contains(failed.program.status().message(), "the stand-in was told to fail"));
  CHECK(contains(failed.program.status().message(), "nvJitLinkComplete of "));
  machine.fails.set(nullptr);
  CHECK(origin_of(store.get(sample_request())) == ProgramOrigin::kLinked);
}

TEST_CASE("a linker older than a compiler is refused before it is used") {
  FakeToolkit machine;
  machine.compiler_release.set("13010");
  const auto outcome = get(machine.sources());
  REQUIRE_FALSE(outcome.program.is_ok());
  CHECK(contains(outcome.program.status().message(), "was compiled by CUDA 13.1"));
  auto request = sample_request();
  request.images[1].compiler = 13020;
  machine.compiler_release.set(nullptr);
  const auto image = get(machine.sources(), request);
  REQUIRE_FALSE(image.program.is_ok());
  CHECK(contains(image.program.status().message(), "'atom' was compiled by CUDA 13.2"));
  CHECK(machine.links() == 0);
}

TEST_CASE("what a link gives is checked before it is kept") {
  FakeToolkit machine;
  const auto refuses = [&](const SampleCubin& what, const char* words) {
    machine.give(what);
    const auto outcome = get(machine.sources());
    REQUIRE_FALSE(outcome.program.is_ok());
    CHECK_MESSAGE(contains(outcome.program.status().message(), words),
                  outcome.program.status().message());
    CHECK_FALSE(std::filesystem::exists(file_of(machine)));
  };
  SampleCubin what;
  what.registers = 200;
  refuses(what, "uses 200 registers a thread, a CTA of 512 threads has 128");
  what = {};
  what.atom_abi = 7;
  refuses(what, "'purlin_device_abi_atom' of program 'sample-n2' says device ABI 7");
  what = {};
  what.kernel = "other_kernel";
  refuses(what, "has no kernel 'sample_kernel', its kernels are: other_kernel");
  what = {};
  what.frame_bytes = 16;
  machine.give(what);
  CHECK(contains(get(machine.sources()).trace.text(), "keeps 16 bytes a thread in local memory"));
}

TEST_CASE("an upgrade of the linker is felt, and without a linker the newest program serves") {
  FakeToolkit machine;
  const std::string tools = machine.at("tools");
  std::filesystem::copy(PURLIN_FAKE_TOOLKIT, tools);
  auto sources = machine.sources();
  sources.libraries.folders = {tools};
  CHECK(origin_of(get(sources)) == ProgramOrigin::kLinked);
  CHECK(origin_of(get(sources)) == ProgramOrigin::kCache);
  // The same path with another file; opened under another name, so that it is loaded anew.
  const std::string upgraded = machine.at("upgraded");
  std::filesystem::copy(tools, upgraded);
  sources.libraries.folders = {upgraded};
  machine.release.set("13010");
  const auto outcome = get(sources);
  CHECK(origin_of(outcome) == ProgramOrigin::kLinked);
  CHECK((*outcome.program)->linker == 13010);
  CHECK((*get(machine.without_libraries()).program)->linker == 13010);
  machine.release.set(nullptr);
  sources.libraries.folders = {tools};
  CHECK((*get(sources).program)->linker == 13000);
  CHECK(machine.links() == 2);
}

TEST_CASE("all threads of a process that want one program share one making") {
  FakeToolkit machine;
  machine.milliseconds.set("20");  // so that the others come while it links
  ProgramStore store(machine.sources());
  std::atomic<int> served = 0;
  std::vector<std::thread> ranks;
  for (int i = 0; i < 8; ++i)
    ranks.emplace_back([&] { served += store.get(sample_request()).program.is_ok() ? 1 : 0; });
  for (auto& rank : ranks) rank.join();
  CHECK(served == 8);
  CHECK(machine.links() == 1);
}

TEST_CASE("lists that overlap are made once, whatever their order") {
  FakeToolkit machine;
  machine.milliseconds.set("20");  // so that the others come while it links
  ProgramStore store(machine.sources());
  std::vector<ProgramRequest> forward, backward;
  for (uint64_t n = 1; n <= 12; ++n) forward.push_back(sample_request(n));
  forward.push_back(sample_request(1));  // twice in one list
  backward.assign(forward.rbegin(), forward.rend());
  std::atomic<size_t> served = 0;
  std::vector<std::thread> ranks;
  for (int i = 0; i < 4; ++i)
    ranks.emplace_back([&, i] {
      for (const auto& outcome : store.get_all(i % 2 == 0 ? forward : backward))
        served += outcome.program.is_ok() ? 1 : 0;
    });
  for (auto& rank : ranks) rank.join();
  CHECK(served == 4 * 13);
  CHECK(machine.links() == 12);
}

TEST_CASE("outcomes keep the order of the requests, and progress tells each") {
  FakeToolkit machine;
  ProgramStore store(machine.sources());
  auto bad = sample_request(3);
  bad.threads = 7;
  const std::vector<ProgramRequest> requests = {sample_request(1), bad, sample_request(2)};
  std::vector<int> told;
  const auto outcomes = store.get_all(requests, [&](int done, int total, const std::string&) {
    CHECK(total == 3);
    told.push_back(done);
  });
  REQUIRE(outcomes.size() == 3);
  CHECK((*outcomes[0].program)->name == "sample-n1");
  CHECK(outcomes[1].program.status().code() == PURLIN_INVALID_ARGUMENT);
  CHECK((*outcomes[2].program)->name == "sample-n2");
  CHECK(told == std::vector<int>{1, 2, 3});
}

TEST_CASE("processes that start together link each program once") {
  FakeToolkit machine;
  machine.milliseconds.set("20");  // so that the others come while it links
  std::vector<ProgramRequest> requests;
  for (uint64_t n = 1; n <= 6; ++n) requests.push_back(sample_request(n));
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i)
    children.push_back(start_child([&] {
      ProgramStore store(machine.sources());
      for (const auto& outcome : store.get_all(requests))
        if (!outcome.program) return 1;
      return 0;
    }));
  for (const pid_t child : children) CHECK(wait_child(child) == 0);
  CHECK(machine.links() == 6);
}

TEST_CASE("a lock that is never given back delays and does not block") {
  FakeToolkit machine;
  auto sources = machine.sources();
  sources.lock_timeout_ms = 20;
  const auto folder = ProgramFolder::create(machine.cache(), Trust::kOwn, 0700);
  REQUIRE(folder.is_ok());
  const auto held = ProgramLock::try_take(*folder, program_digest(sample_request()));
  REQUIRE(held.is_ok());
  REQUIRE(held->has_value());
  const auto outcome = get(sources);
  CHECK(origin_of(outcome) == ProgramOrigin::kLinked);
  CHECK(contains(outcome.trace.text(), "another process holds the lock for more than 20 ms"));
}
