#include "memory/available_memory.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace {

namespace fs = std::filesystem;

// A folder that stands for "/".
class FakeRoot {
 public:
  FakeRoot() {
    std::string pattern = (fs::temp_directory_path() / "purlin-root-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~FakeRoot() { fs::remove_all(path_); }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((path_ + path).substr(0, (path_ + path).rfind('/')));
    std::ofstream(path_ + path) << text;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

TEST_CASE("without any readable file nothing limits") {
  FakeRoot root;
  CHECK(purlin::available_memory(root.path()).bytes == UINT64_MAX);
}

TEST_CASE("the machine's available memory limits") {
  FakeRoot root;
  root.write("/proc/meminfo", "MemTotal: 100 kB\nMemAvailable:    64 kB\n");
  const auto found = purlin::available_memory(root.path());
  CHECK(found.bytes == 64 * 1024);
  CHECK(found.limited_by.find("MemAvailable") != std::string::npos);
}

TEST_CASE("the tightest group of version 2 limits, reclaimable pages counted as free") {
  FakeRoot root;
  root.write("/proc/meminfo", "MemAvailable: 1000000 kB\n");
  root.write("/proc/self/cgroup", "0::/outer/inner\n");
  root.write("/sys/fs/cgroup/outer/inner/memory.max", "max\n");
  root.write("/sys/fs/cgroup/outer/inner/memory.current", "5000\n");
  root.write("/sys/fs/cgroup/outer/memory.max", "10000\n");
  root.write("/sys/fs/cgroup/outer/memory.current", "9000\n");
  root.write("/sys/fs/cgroup/outer/memory.stat", "anon 1\ninactive_file 2500\n");
  const auto found = purlin::available_memory(root.path());
  CHECK(found.bytes == 3500);
  CHECK(found.limited_by.find("/outer/memory.max") != std::string::npos);
}

TEST_CASE("a group of version 1 limits, also when its path is the host's") {
  FakeRoot root;
  root.write("/proc/self/cgroup", "12:cpu,cpuacct:/x\n4:memory:/docker/abc\n0::/\n");
  root.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "4096\n");
  root.write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "8192\n");
  CHECK(purlin::available_memory(root.path()).bytes == 0);
}

TEST_CASE("this machine has some memory") { CHECK(purlin::available_memory().bytes > 1 << 20); }
