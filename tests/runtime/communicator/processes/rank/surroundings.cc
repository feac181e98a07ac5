#include "runtime/communicator/processes/rank/surroundings.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace purlin::test {
namespace {

std::string text_of_call(int result, const std::string& call) {
  return result == 0 ? "ok" : "cannot " + call + ": " + std::strerror(errno);
}

std::string mount_over(const char* folder, unsigned long flags, const std::string& options) {
  static bool apart = false;  // in a mount namespace of its own
  if (!apart) {
    if (::unshare(CLONE_NEWNS) != 0) return text_of_call(-1, "unshare");
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      return text_of_call(-1, "mount /");
    apart = true;
  }
  return text_of_call(::mount("none", folder, "tmpfs", flags, options.c_str()),
                      std::string("mount ") + folder);
}

std::string fill(const char* path) {
  std::ofstream file(path, std::ios::binary);
  const std::string block(4096, 'x');
  while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
  }
  return "ok";
}

// Of those that this process may use.
int first_core() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  ::sched_getaffinity(0, sizeof cores, &cores);
  int core = 0;
  while (core < CPU_SETSIZE - 1 && !CPU_ISSET(core, &cores)) ++core;
  return core;
}

// As in a container whose rules keep processes out of each other's memory.
std::string refuse_reading() {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {static_cast<unsigned short>(std::size(rules)), rules};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return text_of_call(-1, "prctl");
  return text_of_call(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), "set a filter");
}

}  // namespace

std::string change_surroundings(std::istringstream& arguments) {
  std::string kind, value;
  arguments >> kind >> value;
  if (kind == "shm") return mount_over("/dev/shm", 0, "size=" + value);
  if (kind == "shm-full") {
    const std::string said = mount_over("/dev/shm", 0, "size=1m");
    return said == "ok" ? fill("/dev/shm/filler") : said;
  }
  if (kind == "shm-read-only") return mount_over("/dev/shm", MS_RDONLY, "");
  if (kind == "shm-missing") return mount_over("/dev", 0, "");
  if (kind == "shm-stranger") return mount_over("/dev/shm", 0, "mode=0755,uid=65534,gid=65534");
  if (kind == "no-tmp") {
    const std::string said = mount_over("/tmp", MS_RDONLY, "size=4k");
    if (said != "ok") return said;
    return text_of_call(::setenv("TMPDIR", ("/none/" + std::string(200, 'x')).c_str(), 1),
                        "setenv");
  }
  if (kind == "core") {
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(first_core(), &first);
    return text_of_call(::sched_setaffinity(0, sizeof first, &first), "sched_setaffinity");
  }
  if (kind == "no-reading") return refuse_reading();
  if (kind == "variable") {
    std::string text;
    arguments >> text;
    return text_of_call(::setenv(value.c_str(), text.c_str(), 1), "setenv");
  }
  if (kind == "descriptors") {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = std::strtoul(value.c_str(), nullptr, 10);
    return text_of_call(::setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
  }
  return "unknown surroundings " + kind;
}

}  // namespace purlin::test
