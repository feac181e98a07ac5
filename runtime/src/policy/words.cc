#include "policy/words.h"

#include <span>

namespace purlin::policy {
namespace {

template <class E>
struct Entry {
  E value;
  const char* text;
  bool writable = true;  // a policy file may write it
};

constexpr Entry<purlin_collective> kCollectives[] = {
    {PURLIN_ALL_GATHER, "all_gather"},
    {PURLIN_REDUCE_SCATTER, "reduce_scatter"},
    {PURLIN_ALL_REDUCE, "all_reduce"},
    {PURLIN_ALL_TO_ALL, "all_to_all"},
    {PURLIN_ALL_GATHER_V, "all_gather_v"},
    {PURLIN_REDUCE_SCATTER_V, "reduce_scatter_v"},
    {PURLIN_ALL_TO_ALL_V, "all_to_all_v"},
    {PURLIN_BROADCAST, "broadcast"},
    {PURLIN_REDUCE, "reduce"},
    {PURLIN_SCATTER, "scatter"},
    {PURLIN_GATHER, "gather"},
    {PURLIN_SEND_RECV, "send_recv"},
    {PURLIN_CUSTOM, "custom"},
    {PURLIN_BARRIER, "barrier", false},
};
constexpr Entry<purlin_dtype> kDtypes[] = {
    {PURLIN_I8, "i8"},   {PURLIN_U8, "u8"},   {PURLIN_I32, "i32"},       {PURLIN_U32, "u32"},
    {PURLIN_I64, "i64"}, {PURLIN_U64, "u64"}, {PURLIN_F16, "f16"},       {PURLIN_BF16, "bf16"},
    {PURLIN_F32, "f32"}, {PURLIN_F64, "f64"}, {PURLIN_F8E4M3, "f8e4m3"}, {PURLIN_F8E5M2, "f8e5m2"},
};
constexpr Entry<purlin_op> kOps[] = {
    {PURLIN_SUM, "sum"}, {PURLIN_PROD, "prod"}, {PURLIN_MIN, "min"},
    {PURLIN_MAX, "max"}, {PURLIN_AVG, "avg"},   {PURLIN_PREMUL_SUM, "premul_sum"},
};
constexpr Entry<purlin_path> kPaths[] = {
    {PURLIN_PATH_AUTO, "auto"},
    {PURLIN_PATH_LATENCY, "latency"},
    {PURLIN_PATH_THROUGHPUT, "throughput"},
    {PURLIN_PATH_SWITCH, "switch", false},
};
constexpr Entry<purlin_reduction> kReductions[] = {
    {PURLIN_REDUCTION_SCORE, "score"},
    {PURLIN_REDUCTION_NVLS, "nvls"},
    {PURLIN_REDUCTION_NVLS_REQUIRED, "nvls-required"},
    {PURLIN_REDUCTION_POLICY, "policy", false},
};
constexpr Entry<purlin_device_kind> kDeviceKinds[] = {
    {PURLIN_DEVICE_HOST, "host"},
    {PURLIN_DEVICE_CUDA, "cuda"},
    {PURLIN_DEVICE_AUTO, "auto", false},
};
constexpr Entry<Direction> kDirections[] = {{Direction::kPull, "pull"}, {Direction::kPush, "push"}};
constexpr Entry<PacketForm> kPacketForms[] = {
    {PacketForm::kAuto, "auto"}, {PacketForm::k64, "64"}, {PacketForm::k32, "32"}};
constexpr Entry<ProgramKind> kProgramKinds[] = {{ProgramKind::kCopy, "copy"},
                                                {ProgramKind::kReduce, "reduce"},
                                                {ProgramKind::kUniversal, "universal"}};

template <class E>
std::span<const Entry<E>> entries();
template <>
std::span<const Entry<purlin_collective>> entries() {
  return kCollectives;
}
template <>
std::span<const Entry<purlin_dtype>> entries() {
  return kDtypes;
}
template <>
std::span<const Entry<purlin_op>> entries() {
  return kOps;
}
template <>
std::span<const Entry<purlin_path>> entries() {
  return kPaths;
}
template <>
std::span<const Entry<purlin_reduction>> entries() {
  return kReductions;
}
template <>
std::span<const Entry<purlin_device_kind>> entries() {
  return kDeviceKinds;
}
template <>
std::span<const Entry<Direction>> entries() {
  return kDirections;
}
template <>
std::span<const Entry<PacketForm>> entries() {
  return kPacketForms;
}
template <>
std::span<const Entry<ProgramKind>> entries() {
  return kProgramKinds;
}

template <class E>
const char* find_word(E value) {
  for (const Entry<E>& entry : entries<E>())
    if (entry.value == value) return entry.text;
  return nullptr;
}

}  // namespace

const char* word(purlin_collective value) { return find_word(value); }
const char* word(purlin_dtype value) { return find_word(value); }
const char* word(purlin_op value) { return find_word(value); }
const char* word(purlin_path value) { return find_word(value); }
const char* word(purlin_reduction value) { return find_word(value); }
const char* word(purlin_device_kind value) { return find_word(value); }
const char* word(Direction value) { return find_word(value); }
const char* word(PacketForm value) { return find_word(value); }
const char* word(ProgramKind value) { return find_word(value); }

template <class E>
std::optional<E> from_word(std::string_view text) {
  for (const Entry<E>& entry : entries<E>())
    if (entry.writable && text == entry.text) return entry.value;
  return std::nullopt;
}

template <class E>
std::vector<std::string> words_of() {
  std::vector<std::string> words;
  for (const Entry<E>& entry : entries<E>())
    if (entry.writable) words.emplace_back(entry.text);
  return words;
}

#define PURLIN_WORDS(E)                                     \
  template std::optional<E> from_word<E>(std::string_view); \
  template std::vector<std::string> words_of<E>();
PURLIN_WORDS(purlin_collective)
PURLIN_WORDS(purlin_dtype)
PURLIN_WORDS(purlin_op)
PURLIN_WORDS(purlin_path)
PURLIN_WORDS(purlin_reduction)
PURLIN_WORDS(purlin_device_kind)
PURLIN_WORDS(Direction)
PURLIN_WORDS(PacketForm)
PURLIN_WORDS(ProgramKind)
#undef PURLIN_WORDS

}  // namespace purlin::policy
