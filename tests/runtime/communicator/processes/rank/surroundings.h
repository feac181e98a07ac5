// Changes where and under which limits this process goes on.
#pragma once

#include <sstream>
#include <string>

namespace purlin::test {

// KIND [VALUE]; "ok" or why this machine does not let it:
//   shm SIZE        a /dev/shm of that size, as for tmpfs ("64m"), in a mount namespace of its own
//   shm-full        one of 1 MiB without a free byte
//   shm-read-only, shm-missing (an empty /dev), shm-stranger (mode 0755, of user 65534)
//   no-tmp          nothing can be written to /tmp; TMPDIR is 200 characters long and missing
//   descriptors N   RLIMIT_NOFILE
//   variable N V    an environment variable
//   core            one core for all that say so
//   no-reading      process_vm_readv is refused
std::string change_surroundings(std::istringstream& arguments);

}  // namespace purlin::test
