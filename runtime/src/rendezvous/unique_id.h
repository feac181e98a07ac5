// The 128 bytes by which ranks find each other; docs/rendezvous.md lists them.
#pragma once

#include <string>
#include <string_view>

#include "rendezvous/token.h"
#include "status/status.h"

namespace purlin {

// What a purlin_unique_id holds, decoded.
struct UniqueId {
  Identity name{};             // becomes the socket's name
  Token token{};               // secret among the ranks
  uint64_t machine = 0;        // hash of the boot id, 0 when unreadable
  uint64_t network_space = 0;  // inode of the network namespace, 0 when unreadable
};

// A fresh id of this machine. Opens nothing: ranks may join in any order, the maker need not join.
Result<UniqueId> make_unique_id();

purlin_unique_id encode(const UniqueId& id);
// PURLIN_INVALID_ARGUMENT says which byte range is wrong and what that usually means.
Result<UniqueId> decode(const purlin_unique_id& bytes);

// 256 hexadecimal digits and back, for environments and command lines.
std::string to_hex(const purlin_unique_id& bytes);
Result<purlin_unique_id> unique_id_from_hex(std::string_view hex);

// PURLIN_UNSUPPORTED when the id was made on another machine or in another network namespace, where
// its socket cannot be reached from here.
Status check_reachable(const UniqueId& id);

}  // namespace purlin
