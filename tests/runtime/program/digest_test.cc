#include "program/digest.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using purlin::hex;
using purlin::Sha256;
using purlin::sha256;

namespace {
std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}
}  // namespace

TEST_CASE("SHA-256 gives the digests of the standard's examples") {
  CHECK(hex(sha256(bytes_of(""))) ==
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hex(sha256(bytes_of("abc"))) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hex(sha256(bytes_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))) ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(hex(sha256(bytes_of(std::string(1000000, 'a')))) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("the pieces in which bytes arrive do not matter, whatever the length") {
  std::string text;
  for (int i = 0; i < 200; ++i) text += static_cast<char>(i * 7);
  for (size_t length = 0; length <= text.size(); ++length) {
    const std::string part = text.substr(0, length);
    Sha256 whole, bytewise, split;
    whole.update(bytes_of(part));
    for (char c : part) bytewise.update(std::as_bytes(std::span(&c, 1)));
    split.update(bytes_of(part.substr(0, length / 3)));
    split.update(bytes_of(part.substr(length / 3)));
    const auto expected = whole.finish();
    CHECK(bytewise.finish() == expected);
    CHECK(split.finish() == expected);
  }
}

TEST_CASE("fields do not run into each other") {
  Sha256 a, b;
  a.field("ab"), a.field("c");
  b.field("a"), b.field("bc");
  CHECK(a.finish() != b.finish());
}
