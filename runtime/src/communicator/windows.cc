#include "communicator/windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "rendezvous/records.h"
#include "snac/window.h"

namespace purlin {
namespace {

// What a rank found: whose buffers it has mapped, and why not the first of the others.
struct Reach {
  uint64_t ranks;
  char why_not[256];
};

Reach reach_of(const MappedWindow& mapped) {
  Reach reach{};
  for (size_t r = 0; r < mapped.buffers.size(); ++r)
    if (mapped.buffers[r].base != 0) reach.ranks |= uint64_t{1} << r;
  const size_t length = std::min(mapped.why_not.size(), sizeof reach.why_not - 1);
  std::memcpy(reach.why_not, mapped.why_not.data(), length);
  return reach;
}

// Writes own line of the window; then what every rank has mapped of it.
Result<std::vector<Reach>> exchange_reaches(uint32_t number, const MappedWindow& mapped,
                                            Backend& backend, Rendezvous& rendezvous) {
  PURLIN_RETURN_IF_ERROR(rendezvous.agree(backend.write_window(number, mapped.buffers)));
  return gather_records(reach_of(mapped), "registered buffers", rendezvous);
}

// Bytes from the input's first on that the call sends.
uint64_t input_reach(const snac::CallParams& p) {
  uint64_t end = 0;
  for (uint32_t r = 0; r < p.nranks; ++r)
    if (p.send[0][r].bytes != 0) end = std::max(end, p.send[0][r].offset + p.send[0][r].bytes);
  return end;
}

}  // namespace

uint32_t Windows::free_number() const {
  const auto taken = [&](uint32_t number) {
    return std::any_of(open_.begin(), open_.end(), [&](const auto& one) {
      return one.first % snac::kWindows == number % snac::kWindows;
    });
  };
  for (uint32_t i = 0; i < snac::kWindows; ++i) {
    const uint32_t number = (last_ + i) % snac::kMostWindow + 1;
    if (!taken(number)) return number;
  }
  return 0;
}

Result<uint32_t> Windows::open(void* buffer, uint64_t bytes, const std::string& communicator,
                               Backend& backend, Rendezvous& rendezvous) {
  auto numbers = gather_records(free_number(), "its registrations", rendezvous);
  if (!numbers) return numbers.status();
  const auto [least, most] = std::minmax_element(numbers->begin(), numbers->end());
  if (*least == 0)
    return Status(
        PURLIN_UNSUPPORTED,
        fmt::format("{} buffers are registered with communicator {}, and no more can be at a "
                    "time; deregister some on all ranks",
                    snac::kWindows, communicator));
  if (*least != *most)
    return Status(
        PURLIN_MISMATCH,
        fmt::format("ranks of communicator {} disagree about the registrations that are open "
                    "(the next is {} on one and {} on another); register and deregister on all "
                    "ranks between the same two calls",
                    communicator, *least, *most));
  const uint32_t number = *most;
  auto mapped = backend.map_window(buffer, bytes);
  if (!mapped) return mapped.status();
  const auto reaches = exchange_reaches(number, *mapped, backend, rendezvous);
  if (!reaches) {
    // A peer that saw no error may name this window, whose memory is about to be unmapped.
    static_cast<void>(backend.write_window(number, {}));
    return reaches.status();
  }
  uint64_t shared = snac::all_ranks(static_cast<snac::u32>(rendezvous.size()));
  const char* why = "";
  for (const Reach& one : *reaches) {
    shared &= one.ranks;
    if (*why == '\0') why = one.why_not;
  }
  if (*why != '\0' && !told_ && rendezvous.rank() == 0)
    std::fputs(
        fmt::format("purlin: communicator {}: calls on registered buffers that cannot be shared "
                    "are staged: {}\n",
                    communicator, why)
            .c_str(),
        stderr);
  told_ = told_ || *why != '\0';
  used_ = used_ || shared != 0;
  last_ = number;
  Window& own = open_[number];
  own.address = reinterpret_cast<uint64_t>(buffer);
  own.bytes = bytes;
  own.reachable = (shared >> rendezvous.rank() & 1) != 0;
  own.memory = std::move(mapped->memory);
  ++count_;
  if (own.reachable) ++reachable_count_;
  return number;
}

Status Windows::close(uint32_t number, Backend& backend) {
  const auto found = open_.find(number);
  if (found == open_.end())
    return Status(PURLIN_INVALID_ARGUMENT,
                  fmt::format("registration {} is not open; deregister each once", number));
  // Nothing of it is kept that a launch could still be given, whether or not the line can be
  // written.
  const Status written = backend.write_window(number, {});
  --count_;
  if (found->second.reachable) --reachable_count_;
  open_.erase(found);
  return written;
}

uint64_t Windows::place_of(const void* address, uint64_t bytes) const {
  const auto begin = reinterpret_cast<uint64_t>(address);
  for (const auto& [number, window] : open_) {
    if (!window.reachable || begin < window.address) continue;
    const uint64_t offset = begin - window.address;
    if (offset > window.bytes || bytes > window.bytes - offset) continue;
    if (window.memory == nullptr || window.memory->check_unchanged(offset, bytes).is_ok())
      return snac::place_in(number, offset);
  }
  return 0;
}

void Windows::name_places(Launch* launch) const {
  snac::CallParams& p = launch->params;
  const snac::Form& form = launch->form;
  p.place[0] = p.place[1] = 0;
  if (!form.windows || p.nranks == 1) return;
  // Scaled input exists in slots alone; what is overwritten in exchange for it has to be there
  // twice; and how far counts in device memory reach is not known here.
  if (p.scaled == 0 && p.exchange_in_place == 0 && !form.listed) {
    const uint64_t bytes = input_reach(p);
    if (bytes != 0) p.place[0] = place_of(p.in, bytes);
  }
  if (snac::offers(form, 1) && p.share_bytes != 0)
    p.place[1] = place_of(p.out + p.receive[1][p.rank].offset, p.share_bytes);
}

}  // namespace purlin
