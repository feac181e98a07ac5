// Where a set of ranks meets: the name of an abstract socket and the secret asked at its door.
#pragma once

#include <string>

#include "rendezvous/launcher_environment.h"
#include "rendezvous/token.h"
#include "rendezvous/unique_id.h"

namespace purlin {

struct Address {
  std::string name;  // of the abstract socket, without its leading zero byte
  Token token{};     // compared in constant time
  bool token_used =
      false;           // false: derived from job and size, so any process of this user may join
  std::string origin;  // for messages: "unique id", or the launcher's variables
};

// PURLIN_UNSUPPORTED when the id was made where its socket cannot be reached from here.
Result<Address> address_of(const UniqueId& id);

// From the environment's unique id if it has one, else from user, launcher, job and size.
Result<Address> address_of(const LauncherEnvironment& environment);

// Where the members of an existing communicator meet again.
Address address_of_members(const Identity& communicator, const Token& token, bool token_used);

}  // namespace purlin
