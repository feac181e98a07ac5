#include "tools/shape.h"

#include <doctest/doctest.h>

#include "purlin/purlin.h"

namespace purlin::tools {
namespace {

Case case_of(int collective, int nranks, uint64_t count) {
  Case test;
  test.collective = collective;
  test.dtype = PURLIN_F32;
  test.nranks = nranks;
  test.count = count;
  return test;
}

Piece poison(uint64_t offset, uint64_t count) { return {offset, count, Content::kPoison, 0, 0}; }
Piece input(uint64_t offset, uint64_t count, int rank, uint64_t index) {
  return {offset, count, Content::kInput, rank, index};
}
Piece reduced(uint64_t offset, uint64_t count, uint64_t index) {
  return {offset, count, Content::kReduced, 0, index};
}
using Pieces = std::vector<Piece>;

TEST_CASE("pieces are laid over each other") {
  CHECK(cover(10, {}) == Pieces{poison(0, 10)});
  CHECK(cover(0, {}).empty());
  CHECK(cover(10, {input(6, 2, 1, 0), input(0, 3, 0, 5), input(4, 0, 2, 0)}) ==
        Pieces{input(0, 3, 0, 5), poison(3, 3), input(6, 2, 1, 0), poison(8, 2)});
  CHECK(overlay({input(0, 10, 0, 100)}, {reduced(4, 2, 0)}) ==
        Pieces{input(0, 4, 0, 100), reduced(4, 2, 0), input(6, 4, 0, 106)});
  CHECK(overlay({input(0, 5, 0, 0), input(5, 5, 1, 0)}, {reduced(3, 4, 9)}) ==
        Pieces{input(0, 3, 0, 0), reduced(3, 4, 9), input(7, 3, 1, 2)});
}

TEST_CASE("all_gather out of place and in place") {
  Case test = case_of(PURLIN_ALL_GATHER, 3, 4);
  RankShape shape = shape_of(test, 1);
  REQUIRE(shape.arenas.size() == 2);
  CHECK(shape.arenas[0].after == Pieces{input(0, 4, 1, 0)});
  CHECK(shape.arenas[1].before == Pieces{poison(0, 12)});
  CHECK(shape.arenas[1].after == Pieces{input(0, 4, 0, 0), input(4, 4, 1, 0), input(8, 4, 2, 0)});
  test.in_place = true;
  shape = shape_of(test, 1);
  REQUIRE(shape.arenas.size() == 1);
  CHECK(shape.send.offset == 4);
  CHECK(shape.recv.offset == 0);
  CHECK(shape.arenas[0].before == Pieces{poison(0, 4), input(4, 4, 1, 0), poison(8, 4)});
}

TEST_CASE("reduce_scatter in place changes this rank's share alone") {
  Case test = case_of(PURLIN_REDUCE_SCATTER, 3, 4);
  test.in_place = true;
  const RankShape shape = shape_of(test, 1);
  CHECK(shape.send.offset == 0);
  CHECK(shape.recv.offset == 4);
  CHECK(shape.arenas[0].after == Pieces{input(0, 4, 1, 0), reduced(4, 4, 4), input(8, 4, 1, 8)});
}

TEST_CASE("all_to_all transposes") {
  const RankShape shape = shape_of(case_of(PURLIN_ALL_TO_ALL, 2, 5), 1);
  CHECK(shape.arenas[0].before == Pieces{input(0, 10, 1, 0)});
  CHECK(shape.arenas[1].after == Pieces{input(0, 5, 0, 5), input(5, 5, 1, 5)});
}

TEST_CASE("rooted collectives write at the ranks that receive, and nowhere else") {
  Case test = case_of(PURLIN_REDUCE, 3, 4);
  test.root = 2;
  CHECK(shape_of(test, 2).arenas[1].after == Pieces{reduced(0, 4, 0)});
  CHECK(shape_of(test, 0).arenas[1].after == Pieces{poison(0, 4)});
  test.collective = PURLIN_BROADCAST;
  CHECK(shape_of(test, 0).arenas[0].before == Pieces{poison(0, 4)});
  CHECK(shape_of(test, 0).arenas[1].after == Pieces{input(0, 4, 2, 0)});
  test.collective = PURLIN_SCATTER;
  CHECK(shape_of(test, 1).arenas[1].after == Pieces{input(0, 4, 2, 4)});
  CHECK(shape_of(test, 2).arenas[0].before == Pieces{input(0, 12, 2, 0)});
  test.collective = PURLIN_GATHER;
  CHECK(shape_of(test, 2).arenas[1].after ==
        Pieces{input(0, 4, 0, 0), input(4, 4, 1, 0), input(8, 4, 2, 0)});
  CHECK(shape_of(test, 1).arenas[1].after == Pieces{poison(0, 4)});
  test.in_place = true;
  CHECK(shape_of(test, 2).send.offset == 8);
  CHECK(shape_of(test, 1).arenas.size() == 2);
}

TEST_CASE("placements of parts") {
  uint64_t extent = 0;
  CHECK(displacements({3, 0, 2}, Placement::kPacked, &extent) == std::vector<uint64_t>{0, 3, 3});
  CHECK(extent == 5);
  CHECK(displacements({3, 0, 2}, Placement::kGapped, &extent) == std::vector<uint64_t>{17, 37, 54});
  CHECK(extent == 73);
  CHECK(displacements({3, 0, 2}, Placement::kReversed, &extent) ==
        std::vector<uint64_t>{53, 36, 17});
}

TEST_CASE("parts of all_gather_v and reduce_scatter_v") {
  Case test = case_of(PURLIN_ALL_GATHER_V, 2, 0);
  test.counts = {{3, 2}};
  CHECK(shape_of(test, 1).arenas[1].after == Pieces{input(0, 3, 0, 0), input(3, 2, 1, 0)});
  test.placement = Placement::kGapped;
  CHECK(shape_of(test, 1).arenas[1].after == Pieces{poison(0, 17), input(17, 3, 0, 0),
                                                    poison(20, 17), input(37, 2, 1, 0),
                                                    poison(39, 17)});
  test.in_place = true;
  CHECK(shape_of(test, 1).send.offset == 37);
  test.collective = PURLIN_REDUCE_SCATTER_V;
  const RankShape shape = shape_of(test, 1);
  CHECK(shape.recv.offset == 37);
  CHECK(shape.reduced_index == 37);
  CHECK(shape.arenas[0].after == Pieces{poison(0, 17), input(17, 3, 1, 17), poison(20, 17),
                                        reduced(37, 2, 37), poison(39, 17)});
}

TEST_CASE("parts of all_to_all_v, zero ones among them") {
  Case test = case_of(PURLIN_ALL_TO_ALL_V, 2, 0);
  test.counts = {{1, 2}, {0, 4}};
  const RankShape shape = shape_of(test, 1);
  CHECK(shape.send_counts == std::vector<uint64_t>{0, 4});
  CHECK(shape.recv_counts == std::vector<uint64_t>{2, 4});
  CHECK(shape.arenas[1].after == Pieces{input(0, 2, 0, 1), input(2, 4, 1, 0)});
  REQUIRE(shape.sends.size() == 1);
  CHECK(shape.sends[0].peer == 1);
  CHECK(shape.receives.size() == 2);
}

TEST_CASE("size is what benchmarks call size, rounded down to whole counts") {
  CHECK(count_for(PURLIN_ALL_REDUCE, 1027, 8, 4) == 256);
  CHECK(count_for(PURLIN_ALL_GATHER, 1027, 3, 4) == 85);
  CHECK(size_of(case_of(PURLIN_ALL_REDUCE, 8, 256)) == 1024);
  CHECK(size_of(case_of(PURLIN_ALL_GATHER, 3, 85)) == 1020);
  CHECK(size_of(case_of(PURLIN_BARRIER, 3, 0)) == 0);
  Case test = case_of(PURLIN_ALL_TO_ALL_V, 2, 0);
  test.counts = {{1, 2}, {0, 4}};
  CHECK(size_of(test) == 16);
}

TEST_CASE("bus factors") {
  CHECK(bus_factor(PURLIN_ALL_REDUCE, 8) == 1.75);
  CHECK(bus_factor(PURLIN_ALL_GATHER_V, 4) == 0.75);
  CHECK(bus_factor(PURLIN_BROADCAST, 4) == 1);
  CHECK(bus_factor(PURLIN_ALL_TO_ALL, 1) == 0);
}

}  // namespace
}  // namespace purlin::tools
