#include "communicator/switch_memory.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "device/context_scope.h"

namespace purlin {
namespace {

// A step is tried so often, after 1, 2, 4 … at most 128 ms: about seven seconds.
constexpr int kMostTries = 60;
constexpr auto kLongestPause = std::chrono::milliseconds(128);

enum class Outcome : uint8_t { kDone, kNotReady, kFailed };

// Whether any rank says `asked`. The same answer on every rank.
Result<bool> any(Outcome mine, Outcome asked, Rendezvous& rendezvous) {
  auto all = rendezvous.all_gather_blob(std::as_bytes(std::span(&mine, 1)));
  if (!all) return all.status();
  return std::any_of(all->begin(), all->end(), [&](const Blob& one) {
    return one.size() == 1 && one[0] == static_cast<std::byte>(asked);
  });
}

// One step of all ranks: `act` until it is done everywhere. A rank that is done does not act again.
template <class Act>
Status in_step(const char* name, const MulticastApi& multicast, Rendezvous& rendezvous, Act act) {
  auto pause = std::chrono::milliseconds(1);
  Outcome outcome = Outcome::kNotReady;
  for (int tries = 1;; ++tries) {
    Status status;
    if (outcome != Outcome::kDone) {
      status = act();
      const bool again = !status && multicast.not_ready() && tries < kMostTries;
      outcome = status ? Outcome::kDone : again ? Outcome::kNotReady : Outcome::kFailed;
    }
    const auto failed = any(outcome, Outcome::kFailed, rendezvous);
    if (!failed) return failed.status();
    if (*failed)
      return rendezvous
          .agree(outcome == Outcome::kFailed ? status.with_context(name) : Status());
    const auto waits = any(outcome, Outcome::kNotReady, rendezvous);
    if (!waits) return waits.status();
    if (!*waits) return {};
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
}

// Two replicas in one GPU's memory would be one to the switch.
Status check_apart(const CudaDevice& device, Rendezvous& rendezvous) {
  const cu::Uuid mine = device.uuid();
  auto all = rendezvous.all_gather_blob(std::as_bytes(std::span(&mine, 1)));
  if (!all) return all.status();
  for (size_t b = 0; b < all->size(); ++b)
    for (size_t a = 0; a < b; ++a)
      if ((*all)[a] == (*all)[b])
        return Status(PURLIN_UNSUPPORTED,
                      fmt::format("ranks {} and {} share a GPU, and the switch joins one rank of each",
                                  a, b));
  return {};
}

Result<std::unique_ptr<MulticastApi>> open_multicast(const CudaDevice& device) {
  if (device.facts().multicast == 0)
    return Status(PURLIN_UNSUPPORTED,
                  fmt::format("{} has no multicast memory", device.describe()));
  return MulticastApi::open(device.api());
}

}  // namespace

SwitchMemory::Handle::~Handle() {
  if (value != 0) static_cast<void>(api.mem_release(value));
}

SwitchMemory::SwitchMemory(SwitchMemory&& other) noexcept
    : device_(std::move(other.device_)),
      multicast_(std::move(other.multicast_)),
      bytes_(other.bytes_),
      own_(std::move(other.own_)),
      object_(std::move(other.object_)),
      bound_(std::exchange(other.bound_, false)),
      view_(std::move(other.view_)) {}

SwitchMemory::~SwitchMemory() {
  if (!bound_) return;
  const cu::MemHandle object =
      view_ ? view_.pieces().front().handle : object_ ? object_->value : 0;
  // Nothing can be done about a failure: the driver gives the slot back with the last handle.
  static_cast<void>(multicast_->unbind(object, device_->handle(), 0, bytes_));
}

cu::MulticastProp SwitchMemory::prop(int ranks) const {
  cu::MulticastProp prop = {};
  prop.devices = static_cast<unsigned>(ranks);
  prop.bytes = bytes_;
  prop.handle_types = cu::kHandleTypePosixFd;
  return prop;
}

Status SwitchMemory::size_up(uint64_t bytes, int ranks) {
  bytes_ = bytes;
  const cu::MulticastProp wanted = prop(ranks);
  size_t granularity = 0;
  PURLIN_RETURN_IF_ERROR(
      multicast_->get_granularity(&granularity, &wanted, cu::kGranularityMinimum));
  bytes_ = (bytes + granularity - 1) / granularity * granularity;
  auto own = DeviceMemory::create(device_, bytes_, "staging for the switch");
  if (!own) return own.status();
  own_ = *std::move(own);
  if (own_.mapped_bytes() != bytes_)
    return Status(PURLIN_INTERNAL,
                  fmt::format("{} bytes are mapped for the switch where {} were asked for",
                              own_.mapped_bytes(), bytes_));
  return {};
}

Status SwitchMemory::create_object(int ranks) {
  const RelaxedCaptureScope relaxed(device_->api());
  const cu::MulticastProp wanted = prop(ranks);
  cu::MemHandle made = 0;
  PURLIN_RETURN_IF_ERROR(multicast_->create(&made, &wanted));
  object_ = std::make_unique<Handle>(device_->api(), made);
  return {};
}

// Rank 0's object becomes everyone's. A descriptor serves ranks of one process, too.
Status SwitchMemory::hand_over(Rendezvous& rendezvous) {
  int fd = -1;
  Status status;
  OwnedFd owned;
  std::vector<int> mine;
  if (object_ != nullptr) {
    status = device_->api().mem_export_to_shareable_handle(&fd, object_->value,
                                                           cu::kHandleTypePosixFd, 0);
    if (status) {
      owned = OwnedFd(fd);
      static_cast<void>(fcntl(fd, F_SETFD, FD_CLOEXEC));
      mine.push_back(fd);
    }
  }
  PURLIN_RETURN_IF_ERROR(rendezvous.agree(status.with_context("handing a multicast object over")));
  auto received = rendezvous.broadcast_fds(0, mine);
  if (!received) return received.status();
  if (object_ == nullptr) {
    cu::MemHandle imported = 0;
    status = device_->api().mem_import_from_shareable_handle(
        &imported, reinterpret_cast<void*>(static_cast<intptr_t>(received->front().get())),
        cu::kHandleTypePosixFd);
    if (status) object_ = std::make_unique<Handle>(device_->api(), imported);
  }
  return rendezvous.agree(status.with_context("taking a multicast object over"));
}

Status SwitchMemory::bind() {
  PURLIN_RETURN_IF_ERROR(multicast_->bind_mem(object_->value, 0, own_.handle(), 0, bytes_));
  bound_ = true;
  return {};
}

Status SwitchMemory::map() {
  const RelaxedCaptureScope relaxed(device_->api());
  const MappedPiece piece{object_->value, bytes_};
  object_->value = 0;  // the range has it, also when it cannot be mapped
  auto range = MappedRange::map(device_, {&piece, 1});
  if (!range) {
    bound_ = false;  // the handle is gone, and the binding with it
    return range.status();
  }
  view_ = *std::move(range);
  return {};
}

Result<SwitchMemory> SwitchMemory::create(std::shared_ptr<const CudaDevice> device, uint64_t bytes,
                                          Rendezvous& rendezvous) {
  const int ranks = rendezvous.size();
  auto multicast = open_multicast(*device);
  PURLIN_RETURN_IF_ERROR(rendezvous.agree(multicast.status()));
  PURLIN_RETURN_IF_ERROR(check_apart(*device, rendezvous));
  SwitchMemory memory(std::move(device), *std::move(multicast));
  MulticastApi& calls = *memory.multicast_;
  const auto step = [&](const char* name, auto act) {
    return in_step(name, calls, rendezvous, act);
  };
  PURLIN_RETURN_IF_ERROR(rendezvous.agree(memory.size_up(bytes, ranks)));
  PURLIN_RETURN_IF_ERROR(step("creating a multicast object", [&] {
    return rendezvous.rank() == 0 ? memory.create_object(ranks) : Status();
  }));
  PURLIN_RETURN_IF_ERROR(memory.hand_over(rendezvous));
  PURLIN_RETURN_IF_ERROR(step("adding a GPU to a multicast object", [&] {
    return calls.add_device(memory.object_->value, memory.device_->handle());
  }));
  PURLIN_RETURN_IF_ERROR(
      step("binding memory to a multicast object", [&] { return memory.bind(); }));
  PURLIN_RETURN_IF_ERROR(rendezvous.agree(memory.map().with_context("mapping a multicast object")));
  return memory;
}

}  // namespace purlin
