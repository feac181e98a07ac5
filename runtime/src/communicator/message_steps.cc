#include "communicator/message_steps.h"

#include <algorithm>
#include <cstdint>

#include "communicator/element.h"

namespace purlin {
namespace {

struct Range {
  uintptr_t begin = 0, end = 0;
};

Range range_of(const Message& message) {
  const auto begin = reinterpret_cast<uintptr_t>(message.buffer);
  return {begin, begin + message.count * element_bytes(message.dtype)};
}

bool reads_what(std::span<const Message> later, std::span<const Message> earlier) {
  return std::ranges::any_of(later, [&](const Message& send) {
    const Range read = range_of(send);
    return send.sends && std::ranges::any_of(earlier, [&](const Message& receive) {
             const Range written = range_of(receive);
             return !receive.sends && read.begin < written.end && written.begin < read.end;
           });
  });
}

}  // namespace

std::vector<size_t> step_starts(std::span<const Message> messages, std::span<const size_t> ends) {
  std::vector<size_t> starts;
  size_t step = 0;
  for (size_t i = 0; i < ends.size(); ++i) {
    const size_t from = ends[i];
    const size_t to = i + 1 < ends.size() ? ends[i + 1] : messages.size();
    if (!reads_what(messages.subspan(from, to - from), messages.subspan(step, from - step)))
      continue;
    starts.push_back(from);
    step = from;
  }
  return starts;
}

}  // namespace purlin
