// The walk over segments, called back by a script in place of SNAC.
#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "guarded_buffer.h"
#include "plugin.h"
#include "reference/patterns.h"
#include "reference/reference.h"

namespace {

namespace reference = purlin::reference;
using namespace purlin::atom_host_test;
using Bytes = std::vector<unsigned char>;

// Hands out the segments of a list and writes down in which order they are asked for.
struct Script {
  std::vector<purlin_segment> segments;
  uint64_t stop_at = ~uint64_t{0};
  std::string log;

  static int segment(void* snac, uint64_t index, purlin_segment* out) {
    const Script& script = *static_cast<Script*>(snac);
    if (index >= script.segments.size()) return 0;
    *out = script.segments[index];
    return 1;
  }
  static int ready(void* snac, uint64_t index) {
    Script& script = *static_cast<Script*>(snac);
    script.log += "r" + std::to_string(index) + " ";
    return index == script.stop_at ? 1 : 0;
  }
  static void done(void* snac, uint64_t index) {
    static_cast<Script*>(snac)->log += "d" + std::to_string(index) + " ";
  }
};

int run(const purlin_constants& constants, Script& script) {
  const purlin_group group{sizeof(purlin_group), 0, 1, 0, nullptr, 0};
  const purlin_snac_calls calls{sizeof(purlin_snac_calls), 0, Script::segment, Script::ready,
                                Script::done};
  return host_atom().run(&constants, &group, &calls, &script);
}

purlin_segment segment_of(uint64_t bytes, const std::vector<const void*>& sources,
                          const std::vector<void*>& destinations, bool reduce) {
  purlin_segment segment{};
  segment.bytes = bytes;
  segment.nsrc = static_cast<uint32_t>(sources.size());
  segment.ndst = static_cast<uint32_t>(destinations.size());
  segment.consume = reduce ? 1 : 0;
  segment.kind = PURLIN_SEGMENT_UNICAST;
  for (size_t i = 0; i < sources.size(); ++i) segment.src[i] = sources[i];
  for (size_t i = 0; i < destinations.size(); ++i) segment.dst[i] = destinations[i];
  return segment;
}

TEST_CASE("segments are walked in order, each with ready before and done after, empty ones too") {
  const Bytes content = reference::mixed_elements(PURLIN_U8, 1000, 1);
  const GuardedBuffer source(content, 1);
  GuardedBuffer a(content.size(), 2);
  GuardedBuffer b(content.size(), 3);
  Script script;
  script.segments = {segment_of(1000, {source.data()}, {a.data()}, false),
                     segment_of(0, {source.data()}, {a.data()}, false),
                     segment_of(1000, {a.data()}, {b.data()}, false)};
  CHECK(run(constants_of(PURLIN_U8, PURLIN_SUM, 2), script) == 0);
  CHECK(script.log == "r0 d0 r1 d1 r2 d2 ");
  CHECK(a.holds(content));
  CHECK(b.holds(content));
  CHECK(a.guards_intact());
  CHECK(b.guards_intact());
}

TEST_CASE("no segments, nothing called") {
  Script script;
  CHECK(run(constants_of(PURLIN_U8, PURLIN_SUM, 2), script) == 0);
  CHECK(script.log.empty());
}

TEST_CASE("after a stop nothing is moved, asked or announced") {
  const Bytes content = reference::mixed_elements(PURLIN_U8, 100, 1);
  const GuardedBuffer source(content, 0);
  GuardedBuffer a(content.size());
  GuardedBuffer b(content.size());
  const Bytes poison(b.data(), b.data() + content.size());
  Script script;
  script.stop_at = 1;
  script.segments = {segment_of(100, {source.data()}, {a.data()}, false),
                     segment_of(100, {source.data()}, {b.data()}, false),
                     segment_of(100, {source.data()}, {b.data()}, false)};
  CHECK(run(constants_of(PURLIN_U8, PURLIN_SUM, 2), script) == 1);
  CHECK(script.log == "r0 d0 r1 ");
  CHECK(a.holds(content));
  CHECK(b.holds(poison));
}

TEST_CASE("a copy reaches every destination, the source itself among them") {
  // More than a piece, with an odd rest, so that pieces are cut.
  const uint64_t bytes = 3u * descriptor().limits->default_stage_bytes + 17;
  const Bytes content = reference::mixed_elements(PURLIN_U8, bytes, 2);
  GuardedBuffer source(content, 5);
  GuardedBuffer a(bytes, 1);
  GuardedBuffer b(bytes, 2);
  Script script;
  script.segments = {
      segment_of(bytes, {source.data()}, {a.data(), source.data(), b.data()}, false)};
  CHECK(run(constants_of(PURLIN_U8, PURLIN_SUM, 3), script) == 0);
  for (const GuardedBuffer* buffer : {&source, &a, &b}) {
    CHECK(buffer->holds(content));
    CHECK(buffer->guards_intact());
  }
}

// Where the destinations lie, as far as the caller says; kOlder: a caller that cannot say.
enum class Hint { kNone, kShared, kLargeOutput, kOlder };

void give(Hint hint, purlin_constants* constants) {
  if (hint == Hint::kShared || hint == Hint::kOlder) constants->shared_bytes = ~uint64_t{0};
  if (hint == Hint::kLargeOutput) constants->output_bytes = ~uint64_t{0};
  if (hint == Hint::kOlder) constants->struct_size = offsetof(purlin_constants, output);
}

// Reduces three sources to three destinations; destination k is source alias[k], or apart if
// negative.
void check_reduction(purlin_dtype dtype, uint32_t stage_bytes, uint64_t count,
                     const std::vector<int>& alias, Hint hint) {
  const uint64_t bytes = count * reference::element_bytes(dtype);
  std::vector<Bytes> contents;
  std::vector<GuardedBuffer> sources;
  std::vector<GuardedBuffer> apart;
  std::vector<const void*> originals;
  for (uint64_t r = 0; r < 3; ++r) {
    contents.push_back(reference::mixed_elements(dtype, count, 10 + r));
    sources.emplace_back(contents.back(), r);
    apart.emplace_back(bytes, r + 4);
  }
  for (const Bytes& content : contents) originals.push_back(content.data());
  Bytes expected(bytes);
  reference::reduce(dtype, PURLIN_SUM, originals.data(), 3, 3, count, expected.data());

  std::vector<void*> destinations;
  for (size_t k = 0; k < alias.size(); ++k) {
    GuardedBuffer& buffer = alias[k] < 0 ? apart[k] : sources[static_cast<size_t>(alias[k])];
    destinations.push_back(buffer.data());
  }
  Script script;
  script.segments = {segment_of(bytes, {sources[0].data(), sources[1].data(), sources[2].data()},
                                destinations, true)};
  purlin_constants constants = constants_of(dtype, PURLIN_SUM, 3);
  constants.stage_bytes = stage_bytes;
  give(hint, &constants);
  CHECK(run(constants, script) == 0);
  for (size_t k = 0; k < alias.size(); ++k) {
    const GuardedBuffer& buffer = alias[k] < 0 ? apart[k] : sources[static_cast<size_t>(alias[k])];
    CHECK(buffer.holds(expected));
    CHECK(buffer.guards_intact());
  }
}

TEST_CASE("a reduction reaches every destination, whichever sources are among them") {
  for (const purlin_dtype dtype : {PURLIN_U8, PURLIN_BF16, PURLIN_F32, PURLIN_F64}) {
    for (const uint32_t stage_bytes : {4096u, 10000u}) {
      for (const Hint hint : {Hint::kNone, Hint::kShared, Hint::kLargeOutput, Hint::kOlder}) {
        CAPTURE(reference::name_of(dtype));
        CAPTURE(stage_bytes);
        CAPTURE(static_cast<int>(hint));
        check_reduction(dtype, stage_bytes, 5003, {-1}, hint);
        check_reduction(dtype, stage_bytes, 5003, {1}, hint);
        check_reduction(dtype, stage_bytes, 5003, {-1, -1, -1}, hint);
        check_reduction(dtype, stage_bytes, 5003, {-1, 2, 0}, hint);
        check_reduction(dtype, stage_bytes, 5003, {2, 1, 0}, hint);
      }
    }
  }
}

}  // namespace
