// Opening a window that fails on one rank alone.
#include <doctest/doctest.h>

#include "communicator/windows.h"
#include "rendezvous/records.h"
#include "runtime/rendezvous/rank_threads.h"

using namespace purlin;

namespace {

// Tells when the peers' buffers are unmapped, and whether a line still names them then.
class Mapped : public WindowMemory {
 public:
  Mapped(const std::vector<uint32_t>& lines, std::vector<uint32_t>* open_when_unmapped)
      : lines_(lines), open_when_unmapped_(open_when_unmapped) {}
  ~Mapped() override { *open_when_unmapped_ = lines_; }

 private:
  const std::vector<uint32_t>& lines_;
  std::vector<uint32_t>* open_when_unmapped_;
};

// A backend that has windows and nothing else.
class Lines : public Backend {
 public:
  std::vector<uint32_t> lines, open_when_unmapped{~0u};

  Result<MappedWindow> map_window(void*, uint64_t bytes) override {
    MappedWindow window;
    window.buffers = {{1 << 20, bytes}, {2 << 20, bytes}};
    window.memory = std::make_unique<Mapped>(lines, &open_when_unmapped);
    return window;
  }
  Status write_window(uint32_t number, std::span<const snac::WindowBuffer> buffers) override {
    std::erase(lines, number);
    if (!buffers.empty()) lines.push_back(number);
    return {};
  }

  void prepare(snac::CallParams*) const override {}
  Status launch(const Launch&) override { return {}; }
  snac::Control* control(int) const override { return nullptr; }
  void stop(const snac::StopRecord&) override {}
  void refuse_next() override {}
  Status write_block(int, uint64_t, std::span<const snac::u8>) override { return {}; }
  void drain() override {}
};

// Rank 0 opens a window; rank 1 says `of_rank_1` of its line and, if asked for, nonsense after it.
// Rank 0's error.
std::string error_of_rank_0(const Status& of_rank_1, bool broken_record, Lines& backend) {
  const Address address = purlin_test::fresh_address();
  std::string error;
  const auto said = purlin_test::run_ranks(2, [&](int rank) -> std::string {
    auto seat = Rendezvous::join(purlin_test::options_for(address, rank, 2));
    PURLIN_RANK_OK(seat.status());
    if (rank == 0) {
      Windows windows;
      std::vector<std::byte> buffer(100);
      const auto opened = windows.open(buffer.data(), buffer.size(), "test", backend, **seat);
      error = opened.status().message();
      PURLIN_RANK_CHECK(!opened.is_ok() && windows.count() == 0);
      return "";
    }
    const auto numbers = gather_records(uint32_t{1}, "its registrations", **seat);
    PURLIN_RANK_OK(numbers.status());
    static_cast<void>((*seat)->agree(of_rank_1));
    if (broken_record) static_cast<void>((*seat)->all_gather_blob(std::vector<std::byte>(1)));
    return "";
  });
  for (const std::string& one : said) CHECK(one == "");
  return error;
}

}  // namespace

TEST_CASE("a window that fails late is closed before what it names is unmapped") {
  for (const bool late : {false, true}) {
    Lines backend;
    const Status of_rank_1 = late ? Status() : Status(PURLIN_CUDA_ERROR, "its line is not written");
    const std::string error = error_of_rank_0(of_rank_1, late, backend);
    CHECK_MESSAGE(error.find(late ? "sent 1 bytes about registered buffers"
                                  : "its line is not written") != std::string::npos,
                  error);
    CHECK(backend.open_when_unmapped.empty());
    CHECK(backend.lines.empty());
  }
}
