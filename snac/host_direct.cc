#include "snac/host_direct.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace purlin::snac {
namespace {

// Between two looks at the stop word.
constexpr u64 kPieceBytes = 1u << 20;

// One segment for the Atom, which knows best how to copy.
struct Copy {
  const u8* from;
  u8* to;
  u64 bytes;
};
int segment_of(void* copy, std::uint64_t index, purlin_segment* out) {
  if (index > 0) return 0;
  const Copy& c = *static_cast<const Copy*>(copy);
  out->bytes = c.bytes;
  out->nsrc = out->ndst = 1;
  out->consume = PURLIN_CONSUME_COPY;
  out->kind = PURLIN_SEGMENT_UNICAST;
  out->src[0] = c.from;
  out->dst[0] = c.to;
  return 1;
}
int ready_of(void*, std::uint64_t) { return 0; }
void done_of(void*, std::uint64_t) {}
constexpr purlin_snac_calls kCopyCalls = {sizeof(purlin_snac_calls), 0, segment_of, ready_of,
                                          done_of};

class Direct {
 public:
  Direct(const HostCall& call, const ReadPeer& read)
      : call_(call),
        p_(*call.params),
        read_(read),
        env_(*call.form, p_, *call.atom, *call.constants, call.patience, call.peer_left,
             call.epoch) {}

  bool run() {
    send_headers(env_, p_, call_.epoch);
    offer();
    if (!copy_own()) return false;
    if (!wait_headers(env_, p_, call_.epoch, [](u32) { return true; })) return false;
    for (u32 d = 1; d < p_.nranks; ++d)
      if (!take((p_.rank + p_.nranks - d) % p_.nranks)) return false;
    for (u32 d = 1; d < p_.nranks; ++d)
      if (!released_by((p_.rank + d) % p_.nranks)) return false;
    return true;
  }

 private:
  // Where `stager` says where its input lies.
  u64* address_of(u32 stager) const {
    return reinterpret_cast<u64*>(slot_at(p_, call_.epoch, 0, stager, stager, true, 0));
  }

  void offer() {
    if (p_.own.bytes == 0) return;
    *address_of(p_.rank) = reinterpret_cast<u64>(p_.in + p_.own.offset);
    for (u32 d = 1; d < p_.nranks; ++d) {
      const u32 consumer = (p_.rank + d) % p_.nranks;
      if (p_.send[0][consumer].bytes == 0) continue;
      env_.signal(flag_at(p_, consumer, call_.epoch, 0, p_.rank, 0), value());
      env_.ring(consumer);
    }
  }

  bool copy_own() {
    const Extent& own = p_.receive[0][p_.rank];
    Copy copy{p_.in + p_.own.offset, p_.out + own.offset, own.bytes};
    if (own.bytes == 0 || copy.from == copy.to) return true;
    const purlin_group group = {sizeof(purlin_group), 0, 1, 0, nullptr, 0};
    return call_.atom->run(call_.constants, &group, &kCopyCalls, &copy) == 0;
  }

  // Reads what `stager` has for this rank, and tells it.
  bool take(u32 stager) {
    const Extent& extent = p_.receive[0][stager];
    if (extent.bytes == 0) return true;
    const u64* const flag = flag_at(p_, p_.rank, call_.epoch, 0, stager, 0);
    if (!env_.wait([&] { return env_.observe(flag) >= value(); }, Site{stager, 0, 0})) return false;
    const u64 address = *address_of(stager);
    for (u64 at = 0; at < extent.bytes; at += kPieceBytes) {
      const u64 bytes = std::min(kPieceBytes, extent.bytes - at);
      if (!read_piece(stager, p_.out + extent.offset + at, address + at, bytes)) return false;
    }
    env_.signal(ack_at(p_, stager, call_.epoch, 0, p_.rank, 0), value());
    env_.ring(stager);
    return true;
  }

  // A stager that stopped has told so before it left its call, and a process that ended is soon
  // known to be gone; whatever else keeps its memory from being read will not pass.
  bool read_piece(u32 stager, u8* to, u64 address, u64 bytes) {
    int error = 0;
    const bool done = env_.wait(
        [&] {
          error = read_(stager, to, address, bytes);
          return error != ESRCH;
        },
        Site{stager, 0, 0});
    if (!done || error == 0) return done;
    StopRecord record;
    record.kind = StopKind::kUnreadable;
    record.rank = p_.rank;
    record.peer = stager;
    record.epoch = call_.epoch;
    record.expected_call = p_.descriptor;
    record.found_bytes = static_cast<u64>(error);
    env_.stop(record);
    return false;
  }

  bool released_by(u32 consumer) {
    if (p_.own.bytes == 0 || p_.send[0][consumer].bytes == 0) return true;
    const u64* const ack = ack_at(p_, p_.rank, call_.epoch, 0, consumer, 0);
    return env_.wait([&] { return env_.observe(ack) >= value(); }, Site{consumer, kExitStep, 0});
  }

  u64 value() const { return flag_value(call_.epoch, 0); }

  const HostCall& call_;
  const CallParams& p_;
  const ReadPeer& read_;
  HostEnv env_;
};

}  // namespace

bool run_direct(const HostCall& call, const ReadPeer& read) { return Direct(call, read).run(); }

}  // namespace purlin::snac
