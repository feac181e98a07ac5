#include "rendezvous/watcher.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "rendezvous/channel.h"

namespace purlin {
namespace {

class Watcher {
 public:
  static Result<std::unique_ptr<Watcher>> start();
  ~Watcher();

  Status add(const Identity& process, OwnedFd lifeline,
             const std::shared_ptr<LivenessRecord>& record);
  void remove(const std::shared_ptr<LivenessRecord>& record);
  bool idle();

 private:
  struct Peer {
    uint64_t key = 0;  // names it in epoll; never used again, so a late event finds nothing
    OwnedFd lifeline;
    bool ended = false;
    std::vector<std::shared_ptr<LivenessRecord>> records;
  };

  Watcher(OwnedFd poller, OwnedFd bell) : poller_(std::move(poller)), bell_(std::move(bell)) {}
  void run();
  void peer_ended(uint64_t key);
  void ring() const { (void)::eventfd_write(bell_.get(), 1); }

  static constexpr uint64_t kBell = 0;

  OwnedFd poller_, bell_;
  std::mutex mutex_;
  bool stopping_ = false;
  uint64_t next_key_ = kBell + 1;
  std::map<Identity, Peer> peers_;
  // Subscribed after the process had ended; told by the thread.
  std::vector<std::pair<Identity, std::shared_ptr<LivenessRecord>>> late_;
  std::thread thread_;
};

Result<std::unique_ptr<Watcher>> Watcher::start() {
  OwnedFd poller(::epoll_create1(EPOLL_CLOEXEC));
  if (!poller) return socket_error("epoll_create1 for watching peers");
  OwnedFd bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!bell) return socket_error("eventfd for watching peers");
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kBell;
  if (::epoll_ctl(poller.get(), EPOLL_CTL_ADD, bell.get(), &event) != 0)
    return socket_error("epoll_ctl for watching peers");
  std::unique_ptr<Watcher> watcher(new Watcher(std::move(poller), std::move(bell)));
  // The application's signal handlers must not run on this thread.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  Status failed;
  try {
    watcher->thread_ = std::thread([raw = watcher.get()] { raw->run(); });
  } catch (const std::system_error& error) {
    failed = Status(PURLIN_SYSTEM_ERROR,
                    std::string("starting the thread that watches peers failed: ") + error.what() +
                        "; is the limit of processes (ulimit -u, pids group) reached?");
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  PURLIN_RETURN_IF_ERROR(failed);
  ::pthread_setname_np(watcher->thread_.native_handle(), "purlin-watcher");
  return watcher;
}

Watcher::~Watcher() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ring();
  if (thread_.joinable()) thread_.join();
}

Status Watcher::add(const Identity& process, OwnedFd lifeline,
                    const std::shared_ptr<LivenessRecord>& record) {
  const std::lock_guard lock(mutex_);
  Peer& peer = peers_[process];
  if (peer.key == 0) {
    peer.key = next_key_++;
    peer.lifeline = std::move(lifeline);
    epoll_event event{};
    event.events = EPOLLIN;  // EPOLLHUP and EPOLLERR come unasked
    event.data.u64 = peer.key;
    if (::epoll_ctl(poller_.get(), EPOLL_CTL_ADD, peer.lifeline.get(), &event) != 0) {
      const Status failed = socket_error("epoll_ctl for watching a peer");
      peers_.erase(process);
      return failed;
    }
  }
  peer.records.push_back(record);
  if (peer.ended) {
    late_.emplace_back(process, record);
    ring();
  }
  return {};
}

void Watcher::remove(const std::shared_ptr<LivenessRecord>& record) {
  const std::lock_guard lock(mutex_);
  for (auto peer = peers_.begin(); peer != peers_.end();) {
    std::erase(peer->second.records, record);
    peer = peer->second.records.empty() ? peers_.erase(peer) : std::next(peer);
  }
  std::erase_if(late_, [&](const auto& entry) { return entry.second == record; });
}

bool Watcher::idle() {
  const std::lock_guard lock(mutex_);
  return peers_.empty();
}

void Watcher::run() {
  while (true) {
    epoll_event event{};
    const int count = ::epoll_wait(poller_.get(), &event, 1, -1);
    if (count != 1) continue;  // EINTR; nothing else can happen to a valid epoll descriptor
    if (event.data.u64 != kBell) {
      peer_ended(event.data.u64);
      continue;
    }
    eventfd_t rung = 0;
    (void)::eventfd_read(bell_.get(), &rung);
    decltype(late_) late;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      late.swap(late_);
    }
    for (const auto& [process, record] : late) record->process_ended(process);
  }
}

void Watcher::peer_ended(uint64_t key) {
  Identity process{};
  std::vector<std::shared_ptr<LivenessRecord>> records;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(peers_.begin(), peers_.end(),
                                    [&](const auto& peer) { return peer.second.key == key; });
    if (found == peers_.end() || found->second.ended) return;
    ::epoll_ctl(poller_.get(), EPOLL_CTL_DEL, found->second.lifeline.get(), nullptr);
    found->second.ended = true;
    process = found->first;
    records = found->second.records;
  }
  // Outside the lock: a record has its own, held while its callback runs.
  for (const auto& record : records) record->process_ended(process);
}

// The process's watcher, if it runs. In a forked child there is no such thread: what the child
// inherited is given up without being touched.
struct Slot {
  std::mutex mutex;
  std::unique_ptr<Watcher> watcher;
};

Slot& slot() {
  static Slot* const only = [] {
    auto* made = new Slot;
    ::pthread_atfork([] { slot().mutex.lock(); }, [] { slot().mutex.unlock(); },
                     [] {
                       (void)slot().watcher.release();
                       slot().mutex.unlock();
                     });
    return made;
  }();
  return *only;
}

}  // namespace

Status watch(const Identity& process, OwnedFd lifeline,
             const std::shared_ptr<LivenessRecord>& record) {
  Slot& shared = slot();
  const std::lock_guard lock(shared.mutex);
  if (!shared.watcher) {
    auto started = Watcher::start();
    if (!started) return started.status();
    shared.watcher = std::move(started).value();
  }
  return shared.watcher->add(process, std::move(lifeline), record);
}

void unwatch(const std::shared_ptr<LivenessRecord>& record) {
  Slot& shared = slot();
  std::unique_ptr<Watcher> last;
  {
    const std::lock_guard lock(shared.mutex);
    if (shared.watcher) {
      shared.watcher->remove(record);
      if (shared.watcher->idle()) last = std::move(shared.watcher);
    }
  }
  record->close();  // waits for a callback that is running
}

}  // namespace purlin
