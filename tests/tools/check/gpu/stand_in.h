// What the kernels of `purlin check` do, done by the host on the memory of the fake driver: a sound
// Atom's work, or with one misdeed.
#pragma once

#include "gpu/fake_driver.h"

namespace purlin::tools::check {

enum class Misdeed {
  kNone,
  kLosesLastByte,  // of each destination
  kWritesBeside,   // one byte behind each destination
  kWritesSource,   // the first byte of a source that is no destination
  kIgnoresStop,    // moves the segment that was stopped, and says so
  kMovesStopped,   // moves it silently
  kForgetsDone,    // of each walk's last segment
  kSwaps,          // asks for segment 1 first
  kLoneGate,       // ready is called by one lane
  kLoneAnnouncer,  // done is called by one lane
  kLateBytes,      // byte 3 of a segment comes after its done
  kHoldsDone,      // until the next segment is ready
  kTearsPackets,
  kLosesPacket,
  kOverrunsSlots,
  kEarlySignal,
};

void stand_in(Misdeed misdeed, const test::FakeLaunch& launch, void** parameters);

}  // namespace purlin::tools::check
