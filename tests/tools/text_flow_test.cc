#include "tools/text_flow.h"

#include <doctest/doctest.h>

namespace purlin::tools {
namespace {

TEST_CASE("text flows at 80 columns behind its indent") {
  const std::string word(30, 'x');
  CHECK(flow("  - ", word + " " + word + " " + word, 4) ==
        "  - " + word + " " + word + "\n    " + word + "\n");
  CHECK(flow("a: ", "b", 2) == "a: b\n");
  CHECK(flow("a: ", "", 2) == "a:\n");
  CHECK(flow("", "b  c", 0) == "b c\n");
  CHECK(flow("a: ", "b\nc", 2) == "a: b\n  c\n");
  // 77 columns behind "a: " fit exactly, 78 do not.
  CHECK(flow("a: ", std::string(77, 'x'), 2) == "a: " + std::string(77, 'x') + "\n");
  CHECK(flow("a: ", std::string(78, 'x'), 2) == "a:\n  " + std::string(78, 'x') + "\n");
}

TEST_CASE("a word longer than a line stands alone") {
  const std::string path(100, 'p');
  CHECK(flow("    ", path, 4) == "    " + path + "\n");
  CHECK(flow("at ", path + " end", 2) == "at\n  " + path + "\n  end\n");
}

TEST_CASE("code points count, not bytes") {
  CHECK(columns_of("µs…") == 3);
  CHECK(columns({{"µ", "a"}, {"bb", "c"}}, 0) == "µ   a\nbb  c\n");
}

TEST_CASE("columns are as wide as their widest cell") {
  CHECK(columns({{"a", "1"}, {"long", "2"}}, 2) == "  a     1\n  long  2\n");
  CHECK(columns({}, 2).empty());
  const std::string wide(70, 'w');
  CHECK(columns({{wide, "one two three four"}}, 0) ==
        wide + "  one two\n" + std::string(40, ' ') + "three four\n");
}

}  // namespace
}  // namespace purlin::tools
