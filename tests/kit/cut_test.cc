// The cutting of segments into words and pieces, against plain counting.
#include "purlin/kit/cut.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "level.h"
#include "purlin/kit/ring_place.h"

using namespace purlin;

namespace {

struct Shape {
  uint64_t bytes, source, destination;
  uint32_t step, element;
};

Shape random_shape(std::mt19937_64& random) {
  Shape shape{};
  shape.bytes = random() % 3 == 0 ? random() % 40 : random() % 5000;
  shape.source = 4096 + random() % 64;
  shape.destination = 4096 + random() % 64;
  shape.step = 16 * static_cast<uint32_t>(1 + random() % 40);
  shape.element = 1u << random() % 4;
  return shape;
}

}  // namespace

TEST_CASE("pieces hold every byte of a segment once, and all but the first begin at a word") {
  std::mt19937_64 random(test::seed() + 1);
  const int tries = test::is_full() ? 100000 : 5000;
  for (int t = 0; t < tries; ++t) {
    const Shape shape = random_shape(random);
    CAPTURE(shape.bytes);
    CAPTURE(shape.destination);
    CAPTURE(shape.step);
    const uint32_t lead = kit::lead_of(shape.destination, shape.element);
    CHECK(lead % shape.element == 0);
    if (shape.destination % shape.element == 0) CHECK((shape.destination - lead) % 16 == 0);
    const uint64_t span = lead + shape.bytes;
    const uint32_t pieces = kit::piece_count(span, shape.step);
    REQUIRE(pieces >= 1);
    uint64_t at = lead;
    for (uint32_t p = 0; p < pieces; ++p) {
      const kit::Range range = kit::piece_range(p, lead, span, shape.step);
      if (shape.bytes == 0) {
        CHECK(range.begin >= range.end);
        continue;
      }
      REQUIRE(range.begin == at);
      REQUIRE(range.end > range.begin);
      if (p != 0) REQUIRE(range.begin % 16 == 0);
      at = range.end;
    }
    if (shape.bytes != 0) REQUIRE(at == span);
    test::count_cases(1);
  }
}

TEST_CASE("windows of the words of a range hold each of its bytes once") {
  std::mt19937_64 random(test::seed() + 2);
  for (int t = 0; t < 5000; ++t) {
    const uint64_t begin = random() % 100;
    const kit::Range range = {begin, begin + random() % 100};
    std::vector<int> seen(256, 0);
    for (uint64_t word = 0; word < 14; ++word) {
      const kit::Window window = kit::window_of(word, range);
      REQUIRE(window.hi <= 16);
      for (uint32_t b = window.lo; b < window.hi; ++b) ++seen[word * 16 + b];
    }
    for (uint64_t b = 0; b < seen.size(); ++b)
      REQUIRE(seen[b] == (b >= range.begin && b < range.end ? 1 : 0));
    test::count_cases(1);
  }
}

TEST_CASE("the words that enclose a piece fit its slot and hold a wanted byte each") {
  std::mt19937_64 random(test::seed() + 3);
  const uint32_t granules[] = {16, 128};
  for (int t = 0; t < 20000; ++t) {
    const Shape shape = random_shape(random);
    const uint32_t granule = granules[t % 2];
    const uint32_t sources = static_cast<uint32_t>(1 + random() % 16);
    const uint32_t stage = static_cast<uint32_t>(sources * 2 * granule + random() % 20000);
    const uint32_t lead = kit::lead_of(shape.destination, shape.element);
    const uint64_t source = shape.source - lead;  // of position 0
    const bool congruent = ((source | (shape.destination - lead)) & 15) == 0;
    const uint32_t slot = kit::slot_bytes(stage, sources, granule);
    REQUIRE(slot % granule == 0);
    REQUIRE(uint64_t{slot} * sources <= stage);
    const uint32_t step = kit::piece_bytes(slot, congruent, granule);
    REQUIRE(step >= 16);
    const uint64_t span = lead + shape.bytes;
    for (uint32_t p = 0; p < kit::piece_count(span, step); ++p) {
      const kit::Range range = kit::piece_range(p, lead, span, step);
      if (range.begin >= range.end) continue;
      const kit::Range words = kit::enclosing_words(source, range);
      REQUIRE(words.begin % 16 == 0);
      REQUIRE(words.end % 16 == 0);
      REQUIRE(words.begin + 16 > source + range.begin);
      REQUIRE(words.begin <= source + range.begin);
      REQUIRE(words.end >= source + range.end);
      REQUIRE(words.end < source + range.end + 16);
      REQUIRE(words.end - words.begin <= slot);
    }
    test::count_cases(1);
  }
}

TEST_CASE("dealt words are each somebody's, once") {
  std::mt19937_64 random(test::seed() + 4);
  for (int t = 0; t < 500; ++t) {
    const uint64_t first = random() % 9, end = first + random() % 700;
    const uint32_t lanes = 32 * static_cast<uint32_t>(1 + random() % 8);
    const uint32_t at_once = 2u << random() % 2;
    std::vector<int> one(end + 1, 0), two(end + 1, 0);
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      for (uint64_t base = first + lane; base < end; base += at_once * lanes)
        for (uint32_t u = 0; u < at_once; ++u)
          if (const uint64_t w = kit::dealt_word<1>(base, u, lanes); w < end) ++one[w];
      for (uint64_t base = first + lane * 2; base < end; base += at_once * lanes)
        for (uint32_t u = 0; u < at_once; ++u)
          if (const uint64_t w = kit::dealt_word<2>(base, u, lanes); w < end) ++two[w];
    }
    for (uint64_t w = 0; w < end; ++w) {
      REQUIRE(one[w] == (w >= first ? 1 : 0));
      REQUIRE(two[w] == (w >= first ? 1 : 0));
    }
    test::count_cases(1);
  }
}

TEST_CASE("a place that skips stands where one stands that went step by step") {
  for (uint32_t stages = 1; stages <= 16; ++stages) {
    kit::RingPlace slow;
    for (uint32_t start = 0; start < 2 * stages; ++start, slow.next(stages)) {
      kit::RingPlace walker = slow;
      for (uint32_t count = 0; count < 70; ++count, walker.next(stages)) {
        kit::RingPlace jumper = slow;
        jumper.skip(count, stages);
        REQUIRE(jumper.stage == walker.stage);
        REQUIRE(jumper.parity == walker.parity);
        if (count <= stages) REQUIRE(walker.behind(count, stages) == slow.stage);
      }
    }
  }
}
