#include "rendezvous/unique_id.h"

#include <doctest/doctest.h>

#include <cstring>
#include <set>

#include "rendezvous/address.h"

namespace {
bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
}  // namespace

TEST_CASE("ids differ and survive encoding, hexadecimal and decoding") {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    purlin_unique_id bytes;
    REQUIRE(purlin_get_unique_id(&bytes) == PURLIN_OK);
    const std::string hex = purlin::to_hex(bytes);
    CHECK(hex.size() == 256);
    CHECK(seen.insert(hex).second);
    const auto back = purlin::unique_id_from_hex(hex);
    REQUIRE(back.is_ok());
    CHECK(std::memcmp(&back.value(), &bytes, sizeof bytes) == 0);
    const auto id = purlin::decode(bytes);
    REQUIRE(id.is_ok());
    const purlin_unique_id again = purlin::encode(id.value());
    CHECK(std::memcmp(&again, &bytes, sizeof bytes) == 0);
    CHECK(purlin::check_reachable(id.value()).is_ok());
  }
}

TEST_CASE("no place to put an id is an error") {
  CHECK(purlin_get_unique_id(nullptr) == PURLIN_INVALID_ARGUMENT);
  CHECK(contains(purlin_last_error(), "purlin_get_unique_id"));
}

TEST_CASE("each changed byte is found") {
  purlin_unique_id good;
  REQUIRE(purlin_get_unique_id(&good) == PURLIN_OK);
  for (size_t i = 0; i < sizeof good.bytes; ++i) {
    purlin_unique_id bad = good;
    bad.bytes[i] = static_cast<char>(bad.bytes[i] ^ 1);
    const auto decoded = purlin::decode(bad);
    CHECK_MESSAGE(decoded.status().code() == PURLIN_INVALID_ARGUMENT, "byte " << i);
  }
  const auto empty = purlin::decode(purlin_unique_id{});
  CHECK(contains(empty.status().message(), "never filled"));
}

TEST_CASE("another version names both") {
  purlin_unique_id id;
  REQUIRE(purlin_get_unique_id(&id) == PURLIN_OK);
  id.bytes[8] = 9;
  const auto decoded = purlin::decode(id);
  CHECK(contains(decoded.status().message(), "version 9"));
  CHECK(contains(decoded.status().message(), "knows 1"));
}

TEST_CASE("hexadecimal of the wrong length or alphabet is refused") {
  CHECK(contains(purlin::unique_id_from_hex("abc").status().message(), "3 characters"));
  CHECK(contains(purlin::unique_id_from_hex(std::string(255, 'a') + "g").status().message(),
                 "character 256"));
}

TEST_CASE("an id of another machine or network namespace cannot be joined here") {
  auto id = purlin::make_unique_id();
  REQUIRE(id.is_ok());
  auto elsewhere = id.value();
  elsewhere.machine ^= 1;
  CHECK(purlin::check_reachable(elsewhere).code() == PURLIN_UNSUPPORTED);
  CHECK(contains(purlin::address_of(elsewhere).status().message(), "another machine"));
  elsewhere = id.value();
  elsewhere.network_space ^= 1;
  CHECK(contains(purlin::check_reachable(elsewhere).message(), "network namespace"));
  elsewhere.machine = elsewhere.network_space = 0;  // unknown: not compared
  CHECK(purlin::check_reachable(elsewhere).is_ok());
}

TEST_CASE("tokens compare whole") {
  purlin::Token a{}, b{};
  CHECK(purlin::equal_in_constant_time(a, b));
  for (size_t i = 0; i < a.size(); ++i) {
    b = a;
    b[i] = std::byte{0x80};
    CHECK_FALSE(purlin::equal_in_constant_time(a, b));
  }
}

TEST_CASE("addresses: secret with an id, derived without one, apart for different jobs") {
  const auto id = purlin::make_unique_id();
  REQUIRE(id.is_ok());
  const auto by_id = purlin::address_of(id.value());
  REQUIRE(by_id.is_ok());
  CHECK(by_id->token_used);
  CHECK(by_id->token == id->token);
  purlin::LauncherEnvironment environment;
  environment.source = "Slurm";
  environment.nranks = 4;
  environment.job = "17";
  const auto derived = purlin::address_of(environment);
  REQUIRE(derived.is_ok());
  CHECK_FALSE(derived->token_used);
  environment.rank = 3;
  CHECK(purlin::address_of(environment)->name == derived->name);
  environment.job = "18";
  CHECK(purlin::address_of(environment)->name != derived->name);
  environment.unique_id = id.value();
  CHECK(purlin::address_of(environment)->name == by_id->name);
  CHECK(by_id->name.size() < 107);  // sun_path
  CHECK(derived->name.size() < 107);
}
