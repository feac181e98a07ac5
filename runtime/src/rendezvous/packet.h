// The bytes between ranks that meet; docs/rendezvous.md has the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "rendezvous/token.h"

namespace purlin {

constexpr uint32_t kPacketMagic = 0x4e4c5250;  // "PRLN"
constexpr uint16_t kPacketVersion = 1;
constexpr size_t kPacketPayload = 16 * 1024;
constexpr size_t kPacketDescriptors = 128;
// Larger announcements are refused, so that nonsense cannot exhaust memory.
constexpr size_t kMessageBytes = 64 << 20;
constexpr size_t kMostHelloBytes = 4096;
constexpr size_t kMessageDescriptors = 64 * 64;

enum class MessageType : uint16_t {
  kHello = 1,
  kAccepted = 2,
  kRefused = 3,
  kWelcome = 4,
  kFailure = 5,
  kContribution = 6,
  kResult = 7
};

enum class ExchangeKind : uint16_t {
  kNone = 0,
  kBarrier = 1,
  kBlobs = 2,
  kDescriptors = 3,
  kBroadcastDescriptors = 4,
  kAgreement = 5
};

struct PacketHeader {
  uint32_t magic = kPacketMagic;
  uint16_t version = kPacketVersion;
  MessageType type{};
  ExchangeKind exchange = ExchangeKind::kNone;
  uint16_t descriptors = 0;  // attached to this packet
  int32_t sender = 0;
  uint64_t sequence = 0;
  uint64_t deadline = 0;
  uint32_t total_bytes = 0;
  uint32_t offset = 0;
  uint32_t total_descriptors = 0;
  uint32_t payload_bytes = 0;
};
static_assert(sizeof(PacketHeader) == 48 && offsetof(PacketHeader, sequence) == 16 &&
              offsetof(PacketHeader, payload_bytes) == 44);

// Payload of hello, followed by the text of the sender's own failure, if any. Carries the lifeline
// of the sender's process when a communicator is founded.
struct HelloPayload {
  Token token;
  Identity process;
  int32_t rank;
  int32_t nranks;
  int32_t pid;
  int32_t failure_code;
};
static_assert(sizeof(HelloPayload) == 64);

// Payload of accepted.
struct AcceptedPayload {
  int32_t hub;
  int32_t pid;
};

// Payload of refused and failure, followed by the text.
struct FailurePayload {
  int32_t code;
  int32_t rank;  // at fault, -1 when none is
};

// Payload of welcome, followed by a SeatPayload for each rank. Carries the control block, then the
// lifelines that the seats index. A reunion sends no seats and no descriptors.
struct WelcomePayload {
  Identity communicator;
  Token token;
};
struct SeatPayload {
  Identity process;
  int32_t pid;
  int32_t lifeline;  // index among the attached descriptors, -1: the receiver's own process
};
static_assert(sizeof(SeatPayload) == 24);

static_assert(std::is_trivially_copyable_v<HelloPayload> &&
              std::is_trivially_copyable_v<WelcomePayload>);

}  // namespace purlin
