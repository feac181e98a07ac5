// The abstract socket at which ranks meet: taking its name, knocking at it, and who stands there.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "memory/owned_fd.h"
#include "status/status.h"

namespace purlin {

struct SocketUser {
  pid_t pid = 0;  // 0: in a process namespace that cannot be seen from here
  uid_t uid = 0;  // as this process's user namespace sees it
};

// Binds the name and listens. An empty OwnedFd when somebody holds the name. Sockets are
// non-blocking and closed on exec.
Result<OwnedFd> open_door(const std::string& name);

// Connects. Nothing (an empty OwnedFd) when nobody listens at the moment.
Result<OwnedFd> knock(const std::string& name);

// The next who knocked; an empty OwnedFd when there is none. PURLIN_SYSTEM_ERROR names the
// descriptor limit when that is in the way; the newcomer then still waits.
Result<OwnedFd> admit(const OwnedFd& door);

// Who holds the other end: for an accepted socket the one who connected, for a connected socket the
// one who listened.
Result<SocketUser> other_end(const OwnedFd& socket);

}  // namespace purlin
