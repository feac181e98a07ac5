#include "rendezvous/token.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>

namespace purlin {

Status fill_random(std::span<std::byte> out) {
  while (!out.empty()) {
    const ssize_t got = ::getrandom(out.data(), out.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return {PURLIN_SYSTEM_ERROR, std::string("getrandom failed: ") + std::strerror(errno)};
    out = out.subspan(static_cast<size_t>(got));
  }
  return {};
}

bool equal_in_constant_time(const Token& a, const Token& b) {
  volatile unsigned difference = 0;
  for (size_t i = 0; i < a.size(); ++i)
    difference = difference | std::to_integer<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace purlin
