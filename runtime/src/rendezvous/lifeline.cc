#include "rendezvous/lifeline.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>

#include "rendezvous/channel.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

namespace purlin {
namespace {

// What this process shows of itself. A forked child starts afresh: its parent's name is not its
// own, and a copy of the pipe's write end would keep the parent's line alive.
struct Self {
  std::mutex mutex;
  bool named = false;
  Identity identity{};
  OwnedFd read_end, write_end;
};

Self& self() {
  static Self* const only = [] {
    auto* made = new Self;  // never destroyed: the write end must outlive every static object
    ::pthread_atfork([] { self().mutex.lock(); }, [] { self().mutex.unlock(); },
                     [] {
                       self().named = false;
                       self().read_end.reset();
                       self().write_end.reset();
                       self().mutex.unlock();
                     });
    return made;
  }();
  return *only;
}

Result<OwnedFd> pipe_lifeline() {
  Self& me = self();
  const std::lock_guard lock(me.mutex);
  if (!me.write_end) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return socket_error("making a pipe as lifeline");
    me.read_end.reset(ends[0]);
    me.write_end.reset(ends[1]);
  }
  OwnedFd line = me.read_end.duplicate();
  if (!line) return socket_error("duplicating the lifeline");
  return line;
}

OwnedFd process_lifeline() {  // the kernel sets close-on-exec
  return OwnedFd(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
}

}  // namespace

Result<OwnedFd> make_lifeline(LifelineKind kind) {
  if (kind == LifelineKind::kPipe) return pipe_lifeline();
  OwnedFd line = process_lifeline();
  if (!line) return socket_error("pidfd_open");
  return line;
}

Result<OwnedFd> make_lifeline() {
  OwnedFd line = process_lifeline();
  if (line) return line;
  if (errno == EMFILE || errno == ENFILE) return socket_error("pidfd_open");
  return pipe_lifeline();  // old kernel, or a seccomp filter that refuses the call
}

Result<Identity> process_identity() {
  Self& me = self();
  const std::lock_guard lock(me.mutex);
  if (!me.named) PURLIN_RETURN_IF_ERROR(fill_random(me.identity));
  me.named = true;
  return me.identity;
}

}  // namespace purlin
