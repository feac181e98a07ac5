// Random transformations of a user's own against a reading of the header's words that shares
// nothing with the library.
#include <doctest/doctest.h>

#include <random>
#include <string>

#include "level.h"
#include "ranks.h"

using namespace purlin::test;

namespace {

using Bytes = std::vector<unsigned char>;

constexpr unsigned char kGap = 0xc3;

bool in_set(const purlin_rank_set& set, int rank, int root) {
  if (set.kind == PURLIN_RANKS_ALL) return true;
  if (set.kind == PURLIN_RANKS_ROOT) return rank == root;
  return (set.mask >> rank & 1) != 0;
}

// Members of a layout in ascending order.
std::vector<int> members(const purlin_layout& layout, int n) {
  std::vector<int> found;
  for (int m = 0; m < n; ++m)
    if (layout.members == 0 || (layout.members >> m & 1) != 0) found.push_back(m);
  return found;
}

// Where the region of `self` for `peer` begins, in regions; -1 if there is none.
int region(const purlin_layout& layout, int n, int self, int peer) {
  if (layout.kind == PURLIN_LAYOUT_PACKED) return 0;
  const std::vector<int> all = members(layout, n);
  const int wanted = layout.relative != 0 ? (peer - self + n) % n : peer;
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i] == wanted)
      return static_cast<int>((i + layout.rotate) % all.size()) *
             static_cast<int>(layout.stride == 0 ? 1 : layout.stride);
  return -1;
}

int span(const purlin_layout& layout, int n) {
  if (layout.kind == PURLIN_LAYOUT_PACKED) return 1;
  const auto count = static_cast<int>(members(layout, n).size());
  return (count - 1) * static_cast<int>(layout.stride == 0 ? 1 : layout.stride) + 1;
}

unsigned char* at(Bytes& bytes, int index, uint64_t count) {
  return bytes.data() + static_cast<uint64_t>(index) * count;
}

// One step: what `to` holds, from what all hold.
Bytes step(const purlin_step& s, int n, int root, int to, std::vector<Bytes>& inputs,
           uint64_t count) {
  Bytes out(static_cast<uint64_t>(span(s.output, n)) * count, kGap);
  if (!in_set(s.consumers, to, root)) return out;
  bool first = true;
  for (int from = 0; from < n; ++from) {
    const int there = region(s.input, n, from, to);
    const int here = region(s.output, n, to, from);
    if (!in_set(s.stagers, from, root) || there < 0 || here < 0) continue;
    for (uint64_t i = 0; i < count; ++i) {
      const unsigned char byte = at(inputs[static_cast<size_t>(from)], there, count)[i];
      unsigned char& result = at(out, here, count)[i];
      result = s.reduce != 0 && !first ? static_cast<unsigned char>(result + byte) : byte;
    }
    first = false;
  }
  return out;
}

purlin_layout random_layout(purlin_layout_kind kind, int n, std::mt19937_64& random) {
  purlin_layout layout{static_cast<uint32_t>(kind), 0, 0, 0, 1};
  if (kind == PURLIN_LAYOUT_PACKED) return layout;
  if (random() % 2 == 0) layout.members = (random() | 1) & ((uint64_t{1} << n) - 1);
  layout.relative = kind == PURLIN_LAYOUT_TRANSPOSED && random() % 3 == 0;
  layout.rotate = static_cast<uint32_t>(random() % 4);
  layout.stride = static_cast<uint32_t>(1 + random() % 3);
  return layout;
}

purlin_rank_set random_set(int n, std::mt19937_64& random) {
  const uint64_t all = (uint64_t{1} << n) - 1;
  switch (random() % 4) {
    case 0:
      return {PURLIN_RANKS_ROOT, 0, 0};
    case 1:
      return {PURLIN_RANKS_MASK, 0,
              (random() & all) | uint64_t{1} << random() % static_cast<uint64_t>(n)};
    default:
      return {PURLIN_RANKS_ALL, 0, 0};
  }
}

purlin_transformation random_step(int n, std::mt19937_64& random) {
  purlin_transformation t{sizeof t, "random", 1, 0, {}};
  const bool reduces = random() % 3 == 0;
  const auto kind = [&] { return static_cast<purlin_layout_kind>(random() % 3); };
  t.steps[0].input = random_layout(kind(), n, random);
  t.steps[0].output = random_layout(
      reduces ? PURLIN_LAYOUT_PACKED : static_cast<purlin_layout_kind>(1 + random() % 2), n,
      random);
  t.steps[0].reduce = reduces;
  t.steps[0].stagers = random_set(n, random);
  t.steps[0].consumers = random_set(n, random);
  return t;
}

// Carried out, or refused alike on all ranks; "" or what is wrong.
std::string try_it(const Ranks& ranks, int r, const purlin_transformation& t, int root,
                   uint64_t count, std::vector<Bytes> inputs, bool* ran) {
  const int n = ranks.size();
  const Bytes want = step(t.steps[0], n, root, r, inputs, count);
  Bytes out(want.size(), kGap);
  purlin_call call{};
  call.struct_size = sizeof call;
  call.collective = PURLIN_CUSTOM;
  call.transformation = &t;
  call.dtype = PURLIN_U8;
  call.op = PURLIN_SUM;
  call.root = root;
  call.count = count;
  call.send = inputs[static_cast<size_t>(r)].data();
  call.recv = out.data();
  const purlin_status status = purlin_run(&call, ranks.comm(r), nullptr);
  *ran = status == PURLIN_OK;
  if (status == PURLIN_UNSUPPORTED)
    return out == Bytes(out.size(), kGap) ? "" : "refused, and written";
  if (status != PURLIN_OK) return purlin_last_error();
  for (size_t i = 0; i < out.size(); ++i)
    if (out[i] != want[i])
      return "wrong byte " + std::to_string(i) + " of " + std::to_string(out.size());
  return "";
}

std::string text_of(const purlin_transformation& t) {
  std::string text;
  for (const purlin_layout* l : {&t.steps[0].input, &t.steps[0].output})
    text += "kind " + std::to_string(l->kind) + " relative " + std::to_string(l->relative) +
            " members " + std::to_string(l->members) + " rotate " + std::to_string(l->rotate) +
            " stride " + std::to_string(l->stride) + "; ";
  for (const purlin_rank_set* s : {&t.steps[0].stagers, &t.steps[0].consumers})
    text += "set " + std::to_string(s->kind) + " " + std::to_string(s->mask) + "; ";
  return text + (t.steps[0].reduce != 0 ? "reduce" : "copy");
}

}  // namespace

TEST_CASE("random transformations move what the header says, by packets and by chunks") {
  std::mt19937_64 random(seed() * 31 + 17);
  for (const int n : {2, 3, 5, 8}) {
    const Ranks ranks(n);
    REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
    int carried_out = 0;
    for (int i = 0; i < (is_full() ? 1000 : 60); ++i) {
      const purlin_transformation t = random_step(n, random);
      const int root = static_cast<int>(random() % static_cast<uint64_t>(n));
      const uint64_t count = random() % 3 == 0 ? 5000 + random() % 3000 : random() % 40;
      std::vector<Bytes> inputs(
          static_cast<size_t>(n),
          Bytes(static_cast<uint64_t>(span(t.steps[0].input, n)) * count + 1));
      for (Bytes& bytes : inputs)
        for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
      std::vector<std::string> errors(static_cast<size_t>(n));
      std::vector<char> ran(static_cast<size_t>(n));
      ranks.each([&](int r) {
        bool good = false;
        errors[static_cast<size_t>(r)] = try_it(ranks, r, t, root, count, inputs, &good);
        ran[static_cast<size_t>(r)] = good;
      });
      for (size_t r = 0; r < errors.size(); ++r) {
        CAPTURE(n);
        CAPTURE(r);
        CAPTURE(root);
        CAPTURE(count);
        CAPTURE(text_of(t));
        REQUIRE(errors[r] == "");
        REQUIRE(ran[r] == ran[0]);
      }
      carried_out += ran[0];
      count_cases(1);
    }
    CHECK(carried_out > 20);
  }
}

TEST_CASE("two steps of one's own: a reduction whose result is spread by columns") {
  const int n = 4;
  const Ranks ranks(n);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  const purlin_layout scattered{PURLIN_LAYOUT_SCATTERED, 0, 0, 0, 1},
      packed{PURLIN_LAYOUT_PACKED, 0, 0, 0, 1};
  const purlin_layout turned{PURLIN_LAYOUT_TRANSPOSED, 0, 0, 1, 2};
  const purlin_rank_set all{PURLIN_RANKS_ALL, 0, 0};
  const purlin_transformation t{
      sizeof t,
      "columns",
      2,
      0,
      {{scattered, packed, 1, 0, all, all}, {scattered, turned, 0, 0, all, all}}};
  for (const uint64_t block : {uint64_t{8}, uint64_t{24}, uint64_t{3000}}) {
    std::vector<Bytes> inputs(n, Bytes(block * 16));
    std::mt19937_64 random(seed());
    for (Bytes& bytes : inputs)
      for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
    ranks.each([&](int r) {
      std::vector<Bytes> own = inputs, shares;
      for (int p = 0; p < n; ++p) shares.push_back(step(t.steps[0], n, 0, p, own, block * 4));
      const Bytes want = step(t.steps[1], n, 0, r, shares, block);
      Bytes out(want.size(), kGap);
      purlin_call call{};
      call.struct_size = sizeof call;
      call.collective = PURLIN_CUSTOM;
      call.transformation = &t;
      call.dtype = PURLIN_U8;
      call.count = block * 4;
      call.send = inputs[static_cast<size_t>(r)].data();
      call.recv = out.data();
      const purlin_status status = purlin_run(&call, ranks.comm(r), nullptr);
      const std::string text = purlin_last_error();
      REQUIRE_MESSAGE(status == PURLIN_OK, text);
      CHECK((out == want));
      call.count = block * 4 + 1;
      CHECK(purlin_run(&call, ranks.comm(r), nullptr) == PURLIN_INVALID_ARGUMENT);
    });
  }
}

TEST_CASE("what cannot be composed is refused with the reason, and nothing breaks") {
  const int n = 3;
  const Ranks ranks(n);
  REQUIRE_MESSAGE(ranks.creation_error().empty(), ranks.creation_error());
  const purlin_layout scattered{PURLIN_LAYOUT_SCATTERED, 0, 0, 0, 1},
      packed{PURLIN_LAYOUT_PACKED, 0, 0, 0, 1};
  const purlin_layout far{PURLIN_LAYOUT_SCATTERED, 0, 0b11000, 0, 1};
  const purlin_layout beside{PURLIN_LAYOUT_TRANSPOSED, 1, 0b010, 0, 1};
  const purlin_rank_set all{PURLIN_RANKS_ALL, 0, 0}, none{PURLIN_RANKS_MASK, 0, 0b11000};
  struct Refusal {
    purlin_transformation t;
    const char* reason;
  };
  const auto one = [](purlin_step s) {
    return purlin_transformation{sizeof(purlin_transformation), "odd", 1, 0, {s, {}}};
  };
  const auto two = [](purlin_step a, purlin_step b) {
    return purlin_transformation{sizeof(purlin_transformation), "odd", 2, 0, {a, b}};
  };
  const Refusal refusals[] = {
      {one({packed, packed, 0, 0, all, all}), "overwrite each other"},
      {one({scattered, scattered, 1, 0, all, all}), "output must be packed"},
      {one({packed, far, 0, 0, all, all}), "none of whose members exists"},
      {one({packed, scattered, 0, 0, none, all}), "no stagers"},
      {one({packed, scattered, 0, 0, all, none}), "no consumers"},
      {two({scattered, packed, 1, 0, all, all}, {packed, packed, 1, 0, all, all}),
       "step 2 cannot reduce"},
      {two({packed, packed, 1, 0, all, all}, {packed, scattered, 0, 0, all, all}),
       "step 1 must begin"},
      {two({beside, packed, 1, 0, all, all}, {packed, scattered, 0, 0, all, all}),
       "by rank, not by distance"}};
  ranks.each([&](int r) {
    for (const Refusal& refusal : refusals) {
      Bytes in(64), out(64);
      purlin_call call{};
      call.struct_size = sizeof call;
      call.collective = PURLIN_CUSTOM;
      call.transformation = &refusal.t;
      call.dtype = PURLIN_U8;
      call.count = 3;
      call.send = in.data();
      call.recv = out.data();
      CHECK(purlin_run(&call, ranks.comm(r), nullptr) == PURLIN_UNSUPPORTED);
      const std::string text = purlin_last_error();
      CAPTURE(text);
      CHECK(text.find(refusal.reason) != std::string::npos);
      CHECK(text.find("odd") != std::string::npos);
    }
    CHECK(purlin_barrier(ranks.comm(r), nullptr) == PURLIN_OK);
  });
}
