#include "plugin/text_rules.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace purlin::plugin;

TEST_CASE("Atom names are short lower-case words") {
  for (const char* good : {"hopper", "a", "0", "sm-90", "a1-b2"}) CHECK(is_atom_name(good));
  for (const char* bad : {"", "Hopper", "a_b", "a b", "a.b", "\n", "h\xc3\xb6pper"}) {
    CHECK_FALSE(is_atom_name(bad));
  }
  CHECK(is_atom_name(std::string(32, 'x')));
  CHECK_FALSE(is_atom_name(std::string(33, 'x')));
}

TEST_CASE("versions are semantic versions") {
  for (const char* good :
       {"0.0.0", "1.2.3", "10.20.30", "1.0.0-rc.1", "1.0.0+build.05", "1.0.0-alpha-2.x+y"}) {
    CHECK_MESSAGE(is_version(good), good);
  }
  for (const char* bad : {"", "1", "1.2", "1.2.3.4", "v1.2.3", "1.2.x", "01.2.3", "1.2.3-",
                          "1.2.3+", "1.2.3-a..b", "1.2.3-01", "1..3", ".1.2", "1.2.", "1.2.3 "}) {
    CHECK_FALSE_MESSAGE(is_version(bad), bad);
  }
}

TEST_CASE("versions are ordered by semantic precedence") {
  const std::vector<std::string> ascending = {"0.9.0",
                                              "1.0.0-1",
                                              "1.0.0-alpha",
                                              "1.0.0-alpha.1",
                                              "1.0.0-alpha.beta",
                                              "1.0.0-beta.2",
                                              "1.0.0-beta.11",
                                              "1.0.0",
                                              "1.2.0",
                                              "1.10.0",
                                              "2.0.0",
                                              "99999999999999999999.0.0"};
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      const int order = compare_versions(ascending[i], ascending[j]);
      CHECK_MESSAGE((order < 0) == (i < j), ascending[i] << " and " << ascending[j]);
      CHECK_MESSAGE((order > 0) == (i > j), ascending[i] << " and " << ascending[j]);
    }
  }
  CHECK(compare_versions("1.0.0+a", "1.0.0+b") == 0);
}

TEST_CASE("only the usual form of a file name gives an Atom's name") {
  CHECK(usual_name("libatom-hopper.so") == "hopper");
  CHECK(usual_name("libatom-a-b.so") == "a-b");
  for (const char* other : {"libatom-.so", "hopper.so", "libatom-x.so.1", "libatom-x", ""}) {
    CHECK_MESSAGE(usual_name(other).empty(), other);
  }
}

TEST_CASE("a single line has no control characters") {
  CHECK(is_single_line("plain text, \xc3\xa9"));
  for (const char* bad : {"a\nb", "\x1b[31m", "\x7f", "\t"}) CHECK_FALSE(is_single_line(bad));
}
