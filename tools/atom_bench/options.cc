#include "tools/atom_bench/options.h"

#include <fmt/format.h>

#include <charconv>

#include "tools/names.h"
#include "tools/size_text.h"

namespace purlin::tools {
namespace {

constexpr uint64_t kGranule = 16;  // of the plain vector code beside the Atom
constexpr int kMostSources = 16;

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; !text.empty() && begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Outcome<uint32_t> whole_number(const std::string& text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value == 0)
    return Error{fmt::format("'{}' is no whole number above 0", text)};
  return value;
}

Outcome<uint32_t> small_size(const std::string& text) {
  const auto size = parse_size(text);
  if (!size) return Error{size.error()};
  if (*size == 0 || *size > (uint64_t{1} << 20) || *size % kGranule != 0)
    return Error{fmt::format("'{}' is no multiple of 16 bytes up to 1MiB", text)};
  return static_cast<uint32_t>(*size);
}

// A list of values; {0} for an empty text.
Outcome<std::vector<uint32_t>> list_of(const char* option, const std::string& text,
                                       Outcome<uint32_t> (*parse)(const std::string&)) {
  std::vector<uint32_t> values;
  for (const std::string& part : split(text)) {
    const auto value = parse(part);
    if (!value) return Error{fmt::format("{}: {}", option, value.error())};
    values.push_back(*value);
  }
  if (values.empty()) values.push_back(0);
  return values;
}

Outcome<uint64_t> size_of(const char* option, const std::string& text) {
  const auto size = parse_size(text);
  if (!size) return Error{fmt::format("{}: {}", option, size.error())};
  if (*size == 0 || *size % kGranule != 0)
    return Error{fmt::format("{}: '{}' is no multiple of 16 bytes above 0", option, text)};
  return *size;
}

}  // namespace

Outcome<AtomBenchOptions> check_arguments(const AtomBenchArguments& given) {
  AtomBenchOptions options;
  if (given.op != "copy" && given.op != "reduce")
    return Error{fmt::format("--op: '{}' is neither copy nor reduce", given.op)};
  options.reduces = given.op == "reduce";
  if (given.direction != "pull" && given.direction != "push")
    return Error{fmt::format("--direction: '{}' is neither pull nor push", given.direction)};
  options.push = given.direction == "push";
  options.atoms = split(given.atoms);
  const auto ctas =
      list_of("--ctas", given.ctas.empty() ? "1,2,4,8,16,32,64,132" : given.ctas, whole_number);
  const auto stages = list_of("--stages", given.stages, whole_number);
  const auto stage_bytes = list_of("--stage-bytes", given.stage_bytes, small_size);
  for (const auto* list : {&ctas, &stages, &stage_bytes})
    if (!*list) return Error{list->error()};
  options.ctas = *ctas;
  options.stages = *stages;
  options.stage_bytes = *stage_bytes;
  const auto bytes = size_of("--bytes", given.bytes), chunk = size_of("--chunk", given.chunk);
  if (!bytes) return Error{bytes.error()};
  if (!chunk) return Error{chunk.error()};
  options.bytes = *bytes;
  options.chunk_bytes = *chunk;
  const auto dtype = parse_dtype(given.dtype);
  const auto op = parse_op(given.device_op);
  if (!dtype) return Error{"--dtype: " + dtype.error()};
  if (!op) return Error{"--reduction: " + op.error()};
  if (*op == PURLIN_PREMUL_SUM)
    return Error{
        "--reduction: premul_sum scales where a rank stages; sum is what it combines with"};
  options.dtype = *dtype;
  options.op = *op;
  if (given.sources < 2 || given.sources > kMostSources)
    return Error{fmt::format("--sources: {} is not from 2 to {}", given.sources, kMostSources)};
  options.sources = options.reduces ? static_cast<uint32_t>(given.sources) : 1;
  if (given.device < 0) return Error{fmt::format("--ordinal: {} is below 0", given.device)};
  if (given.peer == given.device)
    return Error{fmt::format("--peer: {} is the device itself; leave it out", given.peer)};
  if (given.iterations == 0) return Error{"--iters: 0 calls cannot be timed"};
  options.device = given.device;
  options.peer = given.peer;
  options.drain = given.drain;
  options.iterations = given.iterations;
  options.seed = given.seed;
  options.policy = given.policy;
  options.json = given.json;
  return options;
}

}  // namespace purlin::tools
