// One rank differs. Checking on: an error on all ranks that names the rank and both values.
// Checking off: whatever happens ends, and nobody writes outside its own buffers.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <thread>

#include "level.h"
#include "ranks.h"

using namespace purlin::test;

namespace {

using Call = purlin_status (*)(int rank, int odd, const float* in, float* out, purlin_comm_t comm);

struct Difference {
  const char* words[2];  // of both sides
  Call call;
};

purlin_status sum_of(uint64_t count, const float* in, float* out, purlin_comm_t comm) {
  return purlin_all_reduce(in, out, count, PURLIN_F32, PURLIN_SUM, comm, nullptr);
}

constexpr uint64_t kSmall = 40, kLarge = 9000;  // by packets, by chunks

const Difference kDifferences[] = {
    {{"of 40 f32", "of 39 f32"},
     [](int r, int odd, const float* in, float* out, purlin_comm_t comm) {
       return sum_of(r == odd ? 39 : kSmall, in, out, comm);
     }},
    {{"of 9000 f32", "of 8998 f32"},
     [](int r, int odd, const float* in, float* out, purlin_comm_t comm) {
       return sum_of(r == odd ? 8998 : kLarge, in, out, comm);
     }},
    {{"of 40 f32", "of 9000 f32"},
     [](int r, int odd, const float* in, float* out, purlin_comm_t comm) {
       return sum_of(r == odd ? kLarge : kSmall, in, out, comm);
     }},
    {{"of 1 bf16", "of 1 f32"},
     [](int r, int odd, const float* in, float* out, purlin_comm_t comm) {
       return purlin_all_reduce(in, out, 1, r == odd ? PURLIN_BF16 : PURLIN_F32, PURLIN_SUM, comm,
                                nullptr);
     }},
    {{"sum", "max"},
     [](int r, int odd, const float* in, float* out, purlin_comm_t comm) {
       return purlin_all_reduce(in, out, kLarge, PURLIN_F32, r == odd ? PURLIN_MAX : PURLIN_SUM,
                                comm, nullptr);
     }},
    {{"root 0", "root 1"},
     [](int r, int odd, const float* in, float* out, purlin_comm_t comm) {
       return purlin_broadcast(in, out, kLarge, PURLIN_F32, r == odd ? 1 : 0, comm, nullptr);
     }},
    {{"all_reduce", "all_gather"},
     [](int r, int odd, const float* in, float* out, purlin_comm_t comm) {
       return r == odd ? purlin_all_gather(in, out, kLarge, PURLIN_F32, comm, nullptr)
                       : sum_of(kLarge, in, out, comm);
     }},
    // Order: two calls, swapped on one rank.
    {{"all_to_all of 40 f32", "broadcast of 40 f32"},
     [](int r, int odd, const float* in, float* out, purlin_comm_t comm) {
       purlin_status first = PURLIN_OK;
       for (const int turn : {0, 1}) {
         const purlin_status status =
             (turn == 0) == (r == odd)
                 ? purlin_broadcast(in, out, kSmall, PURLIN_F32, 0, comm, nullptr)
                 : purlin_all_to_all(in, out, kSmall, PURLIN_F32, comm, nullptr);
         if (status != PURLIN_OK && first == PURLIN_OK) first = status;
       }
       return first;
     }}};

// Ranks whose waits are short, since what ends a disagreement without checking is the time limit.
class Disagreeing {
 public:
  Disagreeing(int n, bool checking) : comms_(static_cast<size_t>(n)) {
    purlin_comm_options options = PURLIN_COMM_OPTIONS_INIT;
    options.checking = checking ? 1 : 0;
    // Of the waits alone: creation may take longer.
    options.policy_text = checking ? "version: 1\ntimeouts: {wait: 30s}\n"
                                   : "version: 1\ntimeouts: {wait: 200ms}\n";
    if (purlin_comm_create_all(comms_.data(), n, nullptr, &options) != PURLIN_OK)
      error = purlin_last_error();
  }
  ~Disagreeing() {
    for (purlin_comm_t comm : comms_)
      if (comm != nullptr) purlin_comm_destroy(comm);
  }
  void each(const std::function<void(int)>& body) const {
    std::vector<std::thread> threads;
    for (size_t r = 0; r < comms_.size(); ++r) threads.emplace_back(body, static_cast<int>(r));
    for (std::thread& thread : threads) thread.join();
  }
  purlin_comm_t comm(int r) const { return comms_[static_cast<size_t>(r)]; }
  std::string error;

 private:
  std::vector<purlin_comm_t> comms_;
};

// Bytes that a rank's call may write: of its own view of the call, at most n regions.
uint64_t room(int n) { return kLarge * sizeof(float) * static_cast<uint64_t>(n); }

}  // namespace

TEST_CASE("checking on: all ranks learn which rank differs and both values") {
  for (int n : {2, 4, 8}) {
    for (const Difference& d : kDifferences) {
      const int odd = n - 1;
      const Disagreeing ranks(n, true);
      REQUIRE(ranks.error == "");
      std::vector<std::string> text(static_cast<size_t>(n));
      std::vector<purlin_status> status(static_cast<size_t>(n));
      std::vector<char> intact(static_cast<size_t>(n));
      ranks.each([&](int r) {
        const auto u = static_cast<size_t>(r);
        Guarded in(room(n), 0), out(room(n), 0);
        std::fill_n(in.data(), room(n), static_cast<unsigned char>(0));
        status[u] = d.call(r, odd, reinterpret_cast<const float*>(in.data()),
                           reinterpret_cast<float*>(out.data()), ranks.comm(r));
        text[u] = purlin_comm_last_error(ranks.comm(r));
        intact[u] = in.intact() && out.intact();
      });
      for (size_t r = 0; r < status.size(); ++r) {
        CAPTURE(n);
        CAPTURE(r);
        CAPTURE(text[r]);
        CHECK(status[r] == PURLIN_MISMATCH);
        for (const char* word : d.words) CHECK(text[r].find(word) != std::string::npos);
        CHECK(text[r].find("rank " + std::to_string(odd)) != std::string::npos);
        CHECK(intact[r] != 0);
      }
      count_cases(1);
    }
  }
}

TEST_CASE("checking off: it ends, nothing outside is touched, and a new communicator works") {
  for (int n : {2, 4}) {
    for (const Difference& d : kDifferences) {
      const Disagreeing ranks(n, false);
      REQUIRE(ranks.error == "");
      std::vector<char> intact(static_cast<size_t>(n));
      ranks.each([&](int r) {
        Guarded in(room(n), 0), out(room(n), 0);
        std::fill_n(in.data(), room(n), static_cast<unsigned char>(0));
        d.call(r, n - 1, reinterpret_cast<const float*>(in.data()),
               reinterpret_cast<float*>(out.data()), ranks.comm(r));
        intact[static_cast<size_t>(r)] = in.intact() && out.intact();
      });
      for (size_t r = 0; r < intact.size(); ++r) {
        CAPTURE(n);
        CAPTURE(d.words[0]);
        CAPTURE(r);
        CHECK(intact[r] != 0);
      }
      count_cases(1);
    }
  }
  const Ranks fresh(2);
  fresh.each([&](int r) {
    float in = 1, out = 0;
    CHECK(sum_of(1, &in, &out, fresh.comm(r)) == PURLIN_OK);
    CHECK(out == 2.0f);
  });
}

TEST_CASE("one rank makes one call fewer: the others' time limit says who is missing") {
  for (const bool checking : {true, false}) {
    purlin_comm_options options = PURLIN_COMM_OPTIONS_INIT;
    options.checking = checking;
    options.policy_text = "version: 1\ntimeouts: {wait: 200ms}\n";  // creation may take longer
    std::vector<purlin_comm_t> comms(3);
    REQUIRE(purlin_comm_create_all(comms.data(), 3, nullptr, &options) == PURLIN_OK);
    std::vector<std::thread> threads;
    for (size_t r = 0; r < 3; ++r)
      threads.emplace_back([&, r] {
        float in[4] = {}, out[4] = {};
        for (int call = 0; call < (r == 2 ? 2 : 3); ++call) {
          const purlin_status status = sum_of(4, in, out, comms[r]);
          CHECK(status == (call == 2 ? PURLIN_TIMEOUT : PURLIN_OK));
        }
      });
    for (std::thread& thread : threads) thread.join();
    for (size_t r = 0; r < 3; ++r) {
      CHECK(purlin_comm_async_error(comms[r]) == PURLIN_TIMEOUT);
      const std::string text = purlin_comm_last_error(comms[r]);
      CAPTURE(text);
      for (const char* word : {"rank 2", "epoch 3"}) CHECK(text.find(word) != std::string::npos);
    }
    for (purlin_comm_t comm : comms) purlin_comm_destroy(comm);
  }
}

TEST_CASE("an all_to_all_v whose pair disagrees about its bytes names the pair and both sizes") {
  const int n = 8;
  for (const bool checking : {true, false}) {
    const Disagreeing ranks(n, checking);
    REQUIRE(ranks.error == "");
    const uint64_t bytes = 1'597'440;
    std::vector<char> intact(n);
    ranks.each([&](int r) {
      // Rank 4 sends nothing to rank 7, which expects much.
      std::vector<uint64_t> none(n, 0), expects(n, 0);
      if (r == 7) expects[4] = bytes;
      Guarded in(bytes, 0), out(r == 7 ? bytes : 0, 0);
      const purlin_status status =
          purlin_all_to_all_v(in.data(), none.data(), nullptr, out.data(), expects.data(), nullptr,
                              PURLIN_U8, ranks.comm(r), nullptr);
      // A rank that has heard from all its peers may be done before the end of the communicator.
      CHECK((status == (checking ? PURLIN_MISMATCH : PURLIN_TIMEOUT) ||
             (status == PURLIN_OK && r != 7)));
      intact[static_cast<size_t>(r)] = in.intact() && out.intact();
    });
    for (int r = 0; r < n; ++r) {
      const std::string text = purlin_comm_last_error(ranks.comm(r));
      CAPTURE(text);
      CHECK(intact[static_cast<size_t>(r)] != 0);
      CHECK(text.find("rank 7") != std::string::npos);
      CHECK(text.find("rank 4") != std::string::npos);
      if (checking) CHECK(text.find("1597440 bytes") != std::string::npos);
      if (checking) CHECK(text.find("sending 0 bytes") != std::string::npos);
    }
  }
}
