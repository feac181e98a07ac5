// The second host Atom, found and chosen as any plugin is, against the serial reference.
#include <doctest/doctest.h>

#include <cfenv>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "level.h"
#include "plugin/choice.h"
#include "reference/patterns.h"
#include "reference/reference.h"
#include "runtime/plugin/scratch.h"

using namespace purlin;
using Bytes = std::vector<unsigned char>;

namespace {

const purlin_atom_descriptor& atom() {
  static const purlin_atom_descriptor* const found = [] {
    plugin::Selection selection;
    selection.default_folders = {PURLIN_TESTHOST_FOLDER};
    selection.prefer = {{"testhost", ""}};
    const auto bound = plugin::choose(plugin::discover(selection, plugin::host_device_facts()), {});
    REQUIRE_MESSAGE(bound, bound.status().message());
    return bound->descriptor;
  }();
  return *found;
}

purlin_constants constants_for(int dtype, int op, uint32_t n) {
  purlin_constants constants{};
  constants.struct_size = sizeof(constants);
  constants.nranks = n;
  constants.dtype = static_cast<uint32_t>(dtype);
  constants.op = static_cast<uint32_t>(op);
  constants.stages = atom().limits->default_stages;
  constants.stage_bytes = atom().limits->default_stage_bytes;
  constants.threads = 1;
  return constants;
}

struct Script {
  purlin_segment segment{};
  std::string log;
};
int one_segment(void* snac, uint64_t index, purlin_segment* out) {
  *out = static_cast<Script*>(snac)->segment;
  return index == 0;
}
int ready(void* snac, uint64_t) {
  static_cast<Script*>(snac)->log += "r";
  return 0;
}
void done(void* snac, uint64_t) { static_cast<Script*>(snac)->log += "d"; }

}  // namespace

TEST_CASE("the second host Atom gives the reference's bits for every dtype and operation") {
  const int before = std::fegetround();
  for (int dtype = 0; dtype < PURLIN_DTYPE_COUNT; ++dtype) {
    for (int op = 0; op < PURLIN_OP_COUNT; ++op) {
      for (const uint32_t n : {1u, 2u, 3u, 8u}) {
        const auto d = static_cast<purlin_dtype>(dtype);
        const uint64_t count = 517;
        const std::size_t bytes = count * reference::element_bytes(d);
        std::vector<Bytes> contents;
        std::vector<const void*> originals;
        for (uint32_t r = 0; r < n; ++r) {
          contents.push_back(reference::mixed_elements(d, count, test::seed() + r));
        }
        for (const Bytes& content : contents) originals.push_back(content.data());
        Bytes expected(bytes);
        reference::reduce(d, static_cast<purlin_op>(op), originals.data(), n, n, count,
                          expected.data());
        // Unaligned, into two destinations, one of which is the last source.
        std::vector<Bytes> shifted;
        Script script;
        for (const Bytes& content : contents) {
          Bytes& one = shifted.emplace_back(bytes + 1, 0xcd);
          std::memcpy(one.data() + 1, content.data(), bytes);
          script.segment.src[script.segment.nsrc++] = one.data() + 1;
        }
        Bytes apart(bytes + 3, 0xcd);
        script.segment.bytes = bytes;
        script.segment.consume = PURLIN_CONSUME_REDUCE;
        script.segment.ndst = 2;
        script.segment.dst[0] = apart.data() + 2;
        script.segment.dst[1] = shifted.back().data() + 1;
        const purlin_constants constants = constants_for(dtype, op, n);
        const purlin_group group{sizeof(group), 0, 1, 0, nullptr, 0};
        const purlin_snac_calls calls{sizeof(calls), 0, one_segment, ready, done};
        std::fesetround(FE_UPWARD);
        const int ended = atom().host->run(&constants, &group, &calls, &script);
        CHECK(std::fegetround() == FE_UPWARD);
        std::fesetround(before);
        CHECK(ended == 0);
        CHECK(script.log == "rd");
        CAPTURE(dtype);
        CAPTURE(op);
        CAPTURE(n);
        CHECK(std::memcmp(apart.data() + 2, expected.data(), bytes) == 0);
        CHECK(std::memcmp(shifted.back().data() + 1, expected.data(), bytes) == 0);
        CHECK(apart.front() == 0xcd);
        CHECK(apart.back() == 0xcd);
        test::count_cases(1);
      }
    }
  }
}

TEST_CASE("the second host Atom's packets carry every byte, resume, and never write beyond") {
  const Bytes content = reference::mixed_elements(PURLIN_U8, 83, test::seed());
  for (uint64_t bytes = 0; bytes <= content.size(); ++bytes) {
    std::vector<purlin_packet> slots(bytes / 8 + 2, purlin_packet{0, 6});
    Bytes out(bytes + 1, 0xcd);
    const uint64_t whole = bytes / 8 + (bytes % 8 != 0);
    CHECK(atom().host->receive_packets(slots.data(), out.data(), bytes, 7, 0) == 0);
    atom().host->send_packets(slots.data(), content.data(), bytes, 7);
    const uint64_t late = whole / 2;
    if (whole > 0) slots[late].tag = 6;
    CHECK(atom().host->receive_packets(slots.data(), out.data(), bytes, 7, 0) == late);
    if (whole > 0) slots[late].tag = 7;
    CHECK(atom().host->receive_packets(slots.data(), out.data(), bytes, 7, late) == whole);
    CHECK(std::memcmp(out.data(), content.data(), bytes) == 0);
    CHECK(out.back() == 0xcd);
    CHECK(slots[whole].tag == 6);
  }
}

TEST_CASE("the second host Atom never serves beside the product's unless it is named") {
  plugin::Selection selection;
  selection.default_folders = {PURLIN_TESTHOST_FOLDER, PURLIN_PRODUCT_FOLDER};
  const auto automatic =
      plugin::choose(plugin::discover(selection, plugin::host_device_facts()), {});
  REQUIRE_MESSAGE(automatic, automatic.status().message());
  CHECK(std::string(automatic->descriptor->name) == "host");
  CHECK(automatic->rule == "higher-priority");
  selection.prefer = {{"testhost", ""}, {"auto", ""}};
  const auto named = plugin::choose(plugin::discover(selection, plugin::host_device_facts()), {});
  REQUIRE(named);
  CHECK(std::string(named->descriptor->name) == "testhost");
  CHECK(named->rule == "named-by-policy");
}
