#include "policy/setting.h"

#include <fmt/format.h>

namespace purlin::policy {

std::string Origin::text() const {
  switch (source) {
    case Source::kBuiltIn:
      return "built-in default";
    case Source::kFile:
      return fmt::format("{}:{}:{}", where, line, column);
    case Source::kEnvironment:
      return "environment variable " + where;
    case Source::kApi:
      return "API field " + where;
  }
  return where;
}

}  // namespace purlin::policy
