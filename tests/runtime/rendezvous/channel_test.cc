#include "rendezvous/channel.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "rendezvous/failure.h"
#include "runtime/rendezvous/rank_process.h"

namespace {

using namespace purlin;
using purlin_test::contains;

const Limit kNoHurry(std::chrono::milliseconds(20'000), nullptr);

struct Pair {
  Pair() : Pair(make()) {}
  Channel a, b;

 private:
  explicit Pair(std::pair<OwnedFd, OwnedFd> ends)
      : a(std::move(ends.first), "peer b"), b(std::move(ends.second), "peer a") {}
  static std::pair<OwnedFd, OwnedFd> make() {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    return {OwnedFd(ends[0]), OwnedFd(ends[1])};
  }
};

PacketHeader head_of(MessageType type) {
  PacketHeader head;
  head.type = type;
  head.sender = 4;
  head.sequence = 77;
  return head;
}

std::vector<std::byte> bytes_of(size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 & 0xff);
  return bytes;
}

void send_raw(const Channel& channel, const void* data, size_t size) {
  REQUIRE(::send(channel.fd(), data, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size));
}

}  // namespace

TEST_CASE("messages of every size arrive whole, in order, with their descriptors") {
  for (const size_t bytes :
       {size_t{0}, size_t{1}, kPacketPayload, kPacketPayload + 1, 10 * kPacketPayload + 3}) {
    for (const size_t descriptors : {size_t{0}, size_t{1}, kPacketDescriptors + 1}) {
      CAPTURE(bytes);
      CAPTURE(descriptors);
      Pair pair;
      Status sent;
      std::thread sender([&] {
        sent = pair.a.send(head_of(MessageType::kResult), bytes_of(bytes),
                           std::vector<int>(descriptors, pair.a.fd()), kNoHurry);
        if (sent) sent = pair.a.send(head_of(MessageType::kHello), {}, {}, kNoHurry);
      });
      const auto got = pair.b.receive(kNoHurry);
      const auto next = pair.b.receive(kNoHurry);
      sender.join();
      REQUIRE_MESSAGE(sent.is_ok(), sent.message());
      REQUIRE_MESSAGE(got.is_ok(), got.status().message());
      CHECK(got->head.type == MessageType::kResult);
      CHECK(got->head.sequence == 77);
      CHECK(got->payload == bytes_of(bytes));
      REQUIRE(got->descriptors.size() == descriptors);
      for (const OwnedFd& fd : got->descriptors)
        CHECK((::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
      REQUIRE(next.is_ok());
      CHECK(next->head.type == MessageType::kHello);
    }
  }
}

TEST_CASE("a peer that closed: what it sent is still read, sending raises no signal") {
  Pair pair;
  REQUIRE(pair.b.send(head_of(MessageType::kHello), {}, {}, kNoHurry));  // stays unread
  tell(pair.a, 0, {Status(PURLIN_TIMEOUT, "because"), 2});
  { const Channel closed = std::move(pair.a); }
  CHECK(pair.b.send(head_of(MessageType::kHello), {}, {}, kNoHurry).code() == PURLIN_PEER_LOST);
  const auto last = pair.b.receive(kNoHurry);
  REQUIRE_MESSAGE(last.is_ok(), last.status().message());
  const Failure failure = decode_failure(last->payload);
  CHECK(failure.status.code() == PURLIN_TIMEOUT);
  CHECK(failure.status.message() == "because");
  CHECK(failure.rank == 2);
  CHECK(pair.b.receive(kNoHurry).status().code() == PURLIN_PEER_LOST);
}

TEST_CASE("waiting ends with the limit or an abort, in both directions") {
  Pair pair;
  const Limit soon(std::chrono::milliseconds(50), nullptr);
  const auto nothing = pair.b.receive(soon);
  CHECK(nothing.status().code() == PURLIN_TIMEOUT);
  CHECK(contains(nothing.status().message(), "peer a did not answer within 50 ms"));
  const auto full = pair.a.send(head_of(MessageType::kResult), bytes_of(8 << 20), {},
                                Limit(std::chrono::milliseconds(50), nullptr));
  CHECK(full.code() == PURLIN_TIMEOUT);
  const std::atomic<bool> cancelled{true};
  Pair other;
  const Limit called_off(std::chrono::milliseconds(20'000), &cancelled);
  CHECK(other.b.receive(called_off).status().code() == PURLIN_ABORTED);
}

TEST_CASE("nonsense is refused by name") {
  {
    Pair pair;
    send_raw(pair.a, "hello", 5);
    CHECK(contains(pair.b.receive(kNoHurry).status().message(), "does not speak this protocol"));
  }
  {
    Pair pair;
    PacketHeader other = head_of(MessageType::kHello);
    other.version = 9;
    send_raw(pair.a, &other, sizeof other);
    const auto refused = pair.b.receive(kNoHurry).status();
    CHECK(refused.code() == PURLIN_MISMATCH);
    CHECK(contains(refused.message(), "version 9"));
    CHECK(contains(refused.message(), "this library 1"));
  }
  PacketHeader wrong = head_of(MessageType::kHello);
  for (const int what : {0, 1, 2, 3, 4}) {
    CAPTURE(what);
    Pair pair;
    PacketHeader bad = wrong;
    if (what == 0) bad.payload_bytes = 5;
    if (what == 1) bad.offset = 1;
    if (what == 2) bad.total_bytes = UINT32_MAX;
    if (what == 3) bad.total_descriptors = UINT32_MAX;
    if (what == 4) bad.descriptors = 1;
    send_raw(pair.a, &bad, sizeof bad);
    CHECK_FALSE(pair.b.receive(kNoHurry).is_ok());
  }
}

TEST_CASE("a stranger may send little") {
  Pair pair;
  pair.b.set_most_bytes(100);
  REQUIRE(pair.a.send(head_of(MessageType::kHello), bytes_of(101), {}, kNoHurry));
  CHECK(pair.b.receive(kNoHurry).status().code() == PURLIN_MISMATCH);
}

TEST_CASE("a failure in the midst of a message is heard") {
  Pair pair;
  PacketHeader part = head_of(MessageType::kResult);
  part.total_bytes = 100;
  send_raw(pair.a, &part, sizeof part);
  tell(pair.a, 0, {Status(PURLIN_UNSUPPORTED, "changed my mind"), -1});
  const auto heard = pair.b.receive(kNoHurry);
  REQUIRE(heard.is_ok());
  CHECK(decode_failure(heard->payload).status.message() == "changed my mind");
}

TEST_CASE("descriptors beyond the limit: an error that names it, and none leaks") {
  Pair pair;
  REQUIRE(
      pair.a.send(head_of(MessageType::kResult), {}, std::vector<int>(20, pair.a.fd()), kNoHurry));
  const pid_t child = ::fork();
  if (child == 0) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    // Descriptors are numbered from the lowest free one: room for three more.
    limit.rlim_cur = static_cast<rlim_t>(::dup(0)) + 3;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    const int before = ::dup(0);
    ::close(before);
    const auto refused = pair.b.receive(kNoHurry).status();
    if (refused.code() != PURLIN_SYSTEM_ERROR) ::_exit(1);
    if (!contains(refused.message(), "RLIMIT_NOFILE")) ::_exit(2);
    if (!contains(refused.message(), "of 20")) ::_exit(3);
    ::_exit(::dup(0) == before ? 0 : 4);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("an error that cannot be read is an error") {
  CHECK(decode_failure({}).status.code() == PURLIN_MISMATCH);
  Failure odd{Status(PURLIN_TIMEOUT, "x"), 1};
  auto payload = encode(odd);
  const int32_t code = 4711;
  std::memcpy(payload.data(), &code, sizeof code);
  CHECK(decode_failure(payload).status.code() == PURLIN_INTERNAL);
  CHECK(encode({Status(PURLIN_TIMEOUT, std::string(100'000, 'x')), 1}).size() < kMostHelloBytes);
}
