#include "tools/names.h"

#include <array>
#include <cctype>
#include <string>

#include "tools/nearest.h"

namespace purlin::tools {
namespace {

constexpr std::array<std::string_view, PURLIN_DTYPE_COUNT> kDtypes = {
    "i8", "u8", "i32", "u32", "i64", "u64", "f16", "f32", "f64", "bf16", "f8e4m3", "f8e5m2"};
constexpr std::array<uint64_t, PURLIN_DTYPE_COUNT> kDtypeBytes = {1, 1, 4, 4, 8, 8,
                                                                  2, 4, 8, 2, 1, 1};
constexpr std::array<std::string_view, PURLIN_OP_COUNT> kOps = {"sum", "prod", "min",
                                                                "max", "avg",  "premul_sum"};
constexpr std::array<std::string_view, PURLIN_CUSTOM> kCollectives = {
    "all_gather",       "reduce_scatter", "all_reduce", "all_to_all", "all_gather_v",
    "reduce_scatter_v", "all_to_all_v",   "broadcast",  "reduce",     "scatter",
    "gather",           "send_recv",      "barrier"};
constexpr std::array<std::string_view, 4> kPaths = {"auto", "latency", "throughput", "switch"};
constexpr std::array<std::string_view, 4> kReductions = {"policy", "score", "nvls",
                                                         "nvls-required"};

struct Alias {
  std::string_view name;
  int dtype;
};
constexpr std::array<Alias, 16> kDtypeAliases = {{{"int8", PURLIN_I8},
                                                  {"char", PURLIN_I8},
                                                  {"uint8", PURLIN_U8},
                                                  {"int32", PURLIN_I32},
                                                  {"int", PURLIN_I32},
                                                  {"uint32", PURLIN_U32},
                                                  {"int64", PURLIN_I64},
                                                  {"uint64", PURLIN_U64},
                                                  {"half", PURLIN_F16},
                                                  {"float16", PURLIN_F16},
                                                  {"float", PURLIN_F32},
                                                  {"float32", PURLIN_F32},
                                                  {"double", PURLIN_F64},
                                                  {"float64", PURLIN_F64},
                                                  {"bfloat16", PURLIN_BF16},
                                                  {"fp16", PURLIN_F16}}};

std::string folded(std::string_view text) {
  std::string out;
  for (char c : text)
    if (c != '-' && c != '_') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

template <size_t N>
int find(const std::array<std::string_view, N>& names, std::string_view text) {
  const std::string wanted = folded(text);
  for (size_t i = 0; i < N; ++i)
    if (folded(names[i]) == wanted) return static_cast<int>(i);
  return -1;
}

template <class Enum, size_t N>
Outcome<Enum> parse(std::string_view what, const std::array<std::string_view, N>& names,
                    std::string_view text) {
  const int found = find(names, text);
  if (found >= 0) return static_cast<Enum>(found);
  return Error{unknown_word(what, text, {names.begin(), names.end()})};
}

template <class Enum, class One>
Outcome<std::vector<Enum>> parse_list(std::string_view text, int count, One one) {
  std::vector<Enum> list;
  if (folded(text) == "all") {
    for (int i = 0; i < count; ++i) list.push_back(static_cast<Enum>(i));
    return list;
  }
  for (size_t start = 0; start <= text.size();) {
    const size_t comma = std::min(text.find(',', start), text.size());
    Outcome<Enum> item = one(text.substr(start, comma - start));
    if (!item) return Error{item.error()};
    list.push_back(*item);
    start = comma + 1;
  }
  return list;
}

template <size_t N>
std::string_view name_of(const std::array<std::string_view, N>& names, int value) {
  return value >= 0 && static_cast<size_t>(value) < N ? names[static_cast<size_t>(value)] : "?";
}

}  // namespace

std::string_view dtype_name(int dtype) { return name_of(kDtypes, dtype); }
uint64_t dtype_bytes(int dtype) { return kDtypeBytes.at(static_cast<size_t>(dtype)); }
std::string_view op_name(int op) { return name_of(kOps, op); }
std::string_view collective_name(int collective) { return name_of(kCollectives, collective); }

Outcome<purlin_dtype> parse_dtype(std::string_view text) {
  for (const Alias& alias : kDtypeAliases)
    if (folded(text) == alias.name) return static_cast<purlin_dtype>(alias.dtype);
  return parse<purlin_dtype>("element type", kDtypes, text);
}
Outcome<purlin_op> parse_op(std::string_view text) {
  return parse<purlin_op>("operation", kOps, text);
}
Outcome<purlin_collective> parse_collective(std::string_view text) {
  return parse<purlin_collective>("collective", kCollectives, text);
}
Outcome<purlin_path> parse_path(std::string_view text) {
  return parse<purlin_path>("path", kPaths, text);
}
Outcome<purlin_reduction> parse_reduction(std::string_view text) {
  return parse<purlin_reduction>("reduction", kReductions, text);
}
Outcome<std::vector<purlin_dtype>> parse_dtypes(std::string_view text) {
  return parse_list<purlin_dtype>(text, PURLIN_DTYPE_COUNT, parse_dtype);
}
Outcome<std::vector<purlin_op>> parse_ops(std::string_view text) {
  return parse_list<purlin_op>(text, PURLIN_OP_COUNT, parse_op);
}

bool reduces(int collective) {
  return collective == PURLIN_ALL_REDUCE || collective == PURLIN_REDUCE ||
         collective == PURLIN_REDUCE_SCATTER || collective == PURLIN_REDUCE_SCATTER_V;
}
bool rooted(int collective) {
  return collective == PURLIN_BROADCAST || collective == PURLIN_REDUCE ||
         collective == PURLIN_SCATTER || collective == PURLIN_GATHER;
}
bool takes_counts(int collective) {
  return collective == PURLIN_ALL_GATHER_V || collective == PURLIN_REDUCE_SCATTER_V ||
         collective == PURLIN_ALL_TO_ALL_V;
}

}  // namespace purlin::tools
