// `purlin check` of Atoms for GPUs, on a driver that keeps device memory in host memory: programs
// are linked, and the host does what their kernels would.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "level.h"
#include "stand_in.h"
#include "tools/check/check.h"

namespace purlin::tools::check {
namespace {

std::string atom(const char* name) {
  return std::string(PURLIN_PRODUCT_FOLDER "/libatom-") + name + ".so";
}

CheckReport check(const std::string& path, std::set<int> only, Misdeed misdeed = Misdeed::kNone,
                  const test::FakeSetup& setup = {}) {
  setenv("PURLIN_CUDA_DRIVER", PURLIN_FAKE_DRIVER, 1);
  test::FakeControl& control = test::open_fake_driver(PURLIN_FAKE_DRIVER, setup);
  control.on_launch([misdeed](const test::FakeLaunch& launch, void** parameters) {
    // Every CTA waits for others: all have to fit.
    if (launch.grid > 132) std::abort();
    stand_in(misdeed, launch, parameters);
  });
  CheckOptions options;
  options.path = path;
  options.seed = test::seed();
  options.only = std::move(only);
  const CheckReport report = check_plugin(options);  // children inherit the driver's state
  test::count_cases(1);
  return report;
}

const Finding& finding(const CheckReport& report, int number) {
  return report.findings[static_cast<size_t>(number - 1)];
}

// False, after a counted skip, where programs cannot be linked.
bool can_link() {
#ifndef PURLIN_HAVE_CUDA
  test::skip("link: this build has no CUDA toolkit");
  return false;
#else
  const CheckReport report = check(atom("generic"), {kWalk});
  if (finding(report, kWalk).state != State::kNotChecked) return true;
  test::skip("link: " + finding(report, kWalk).text);
  return false;
#endif
}

TEST_CASE("a sound Atom passes every requirement that a GPU tries") {
  if (!can_link()) return;
  const char* const names[] = {"generic", "ampere", "hopper"};
  std::set<int> only = {kWalk, kCopy, kStop, kScale, kEnvironment, kOrder, kLimits, kThreads};
  if (test::is_full()) only.insert({kReduce, kScore, kFuzz});
  const CheckReport report = check(atom(names[test::seed() % 3]), only);
  for (const int number : only) {
    CAPTURE(number);
    const Finding& found = finding(report, number);
    const State wanted = number == kEnvironment ? State::kNotApplicable : State::kPassed;
    CHECK_MESSAGE(found.state == wanted, found.text);
    CHECK((found.cases > 0) == (wanted == State::kPassed));
  }
}

TEST_CASE("what the switch alone reduces is not asked of its Atom, and the rest is") {
  if (!can_link()) return;
  const CheckReport report =
      check(atom("nvls"), {kWalk, kReduce, kScale, kScore, kPackets, kCollectives, kAbort});
  for (const int number : {kWalk, kPackets})
    CHECK_MESSAGE(finding(report, number).state == State::kPassed, finding(report, number).text);
  for (const int number : {kReduce, kScale, kScore})
    CHECK(finding(report, number).state == State::kNotApplicable);
  for (const int number : {kCollectives, kAbort}) {
    CHECK(finding(report, number).state == State::kNotChecked);
    CHECK(finding(report, number).text.find("beside another Atom") != std::string::npos);
  }
}

TEST_CASE("each misdeed on a GPU is found, by its requirement and in words") {
  if (!can_link()) return;
  struct Case {
    Misdeed misdeed;
    int number;
    const char* text;
  };
  for (const Case& one : {
           Case{Misdeed::kLosesLastByte, kCopy, "is cd, should be"},
           Case{Misdeed::kWritesBeside, kCopy, "byte 0 beyond the end of destination"},
           Case{Misdeed::kWritesSource, kCopy, "byte 0 of source 0"},
           Case{Misdeed::kIgnoresStop, kStop, "and ready(0) had said stop"},
           Case{Misdeed::kMovesStopped, kStop, "should be cd"},
           Case{Misdeed::kForgetsDone, kWalk, "after done was called for 0 of 1 segments"},
           Case{Misdeed::kSwaps, kWalk, "ready(1) was called where ready(0) was due"},
           Case{Misdeed::kLoneGate, kWalk, "ready(0) was called by lanes 0x1 of a warp"},
           Case{Misdeed::kLoneAnnouncer, kWalk, "done(0) was called by lanes 0x1 of a warp"},
           Case{Misdeed::kLateBytes, kWalk, "byte 3 was not there for another CTA"},
           Case{Misdeed::kHoldsDone, kWalk, "its done did not come while ready(1) waited"},
           Case{Misdeed::kTearsPackets, kPackets, "2 packets were read with another's payload"},
           Case{Misdeed::kLosesPacket, kPackets, "packet 0 of round 3 never arrived"},
           Case{Misdeed::kOverrunsSlots, kPackets, "the packet behind the 1 slots was written"},
           Case{Misdeed::kEarlySignal, kOrder, "2 words were not there"},
       }) {
    const CheckReport report = check(atom("generic"), {one.number}, one.misdeed);
    const Finding& found = finding(report, one.number);
    CAPTURE(one.text);
    CHECK(found.state == State::kFailed);
    CHECK_MESSAGE(found.text.find(one.text) != std::string::npos, found.text);
  }
}

TEST_CASE("an Atom that does not serve the GPU is not tried on it, and says why") {
  if (!can_link()) return;
  const CheckReport report = check(atom("blackwell"), {kWalk, kFuzz, kCollectives, kAbort});
  for (const int number : {kWalk, kFuzz, kCollectives, kAbort}) {
    CHECK(finding(report, number).state == State::kNotChecked);
    CHECK_MESSAGE(
        finding(report, number).text.find("does not serve this machine's GPU") != std::string::npos,
        finding(report, number).text);
  }
}

TEST_CASE("without a driver nothing is linked, and each requirement says so") {
#ifdef PURLIN_HAVE_CUDA
  setenv("PURLIN_CUDA_DRIVER", "/nowhere/libcuda.so", 1);
  CheckOptions options;
  options.path = atom("generic");
  options.only = {kWalk, kScore, kPackets, kCollectives, kAbort};
  const CheckReport report = check_plugin(options);
  CHECK(report.count(State::kFailed) == 0);
  for (const int number : options.only) {
    CHECK(finding(report, number).state == State::kNotChecked);
    CHECK(finding(report, number).text.find("no CUDA driver") != std::string::npos);
    // What helps `purlin perf` does not help here.
    CHECK(finding(report, number).text.find("--device") == std::string::npos);
  }
#endif
}

TEST_CASE("an error of the driver is a finding") {
  if (!can_link()) return;
  setenv("PURLIN_CUDA_DRIVER", PURLIN_FAKE_DRIVER, 1);
  test::FakeControl& control = test::open_fake_driver(PURLIN_FAKE_DRIVER);
  control.fail("cuLaunchKernelEx", static_cast<cu::Code>(719));
  CheckOptions options;
  options.path = atom("generic");
  options.only = {kWalk};
  const CheckReport report = check_plugin(options);
  CHECK(finding(report, kWalk).state == State::kFailed);
  CHECK_MESSAGE(finding(report, kWalk).text.find("purlin_check_walk failed") != std::string::npos,
                finding(report, kWalk).text);
}

}  // namespace
}  // namespace purlin::tools::check
