#include "tools/check/piece.h"

#include <fmt/format.h>

#include <cstring>

#include "tools/names.h"
#include "tools/reference.h"

namespace purlin::tools::check {
namespace {

const char* consume_name(uint32_t consume) {
  return consume == PURLIN_CONSUME_REDUCE  ? "reduction"
         : consume == PURLIN_CONSUME_SCALE ? "scaling"
                                           : "copy";
}

// A copy's elements are bytes, whatever the program's are.
int dtype_of(const Piece& piece, int dtype) {
  return piece.consume == PURLIN_CONSUME_COPY ? int{PURLIN_U8} : dtype;
}

}  // namespace

Bytes reduced(int dtype, int op, const std::vector<Bytes>& sources) {
  // Through 64-bit words, so that the reference reads aligned memory.
  std::vector<std::vector<uint64_t>> aligned;
  std::vector<const void*> pointers;
  for (const Bytes& source : sources) {
    aligned.emplace_back(source.size() / 8 + 1);
    std::memcpy(aligned.back().data(), source.data(), source.size());
  }
  for (const auto& words : aligned) pointers.push_back(words.data());
  std::vector<uint64_t> out(sources[0].size() / 8 + 1);
  reference_reduce(dtype, op == PURLIN_PREMUL_SUM ? PURLIN_SUM : op, pointers.data(),
                   static_cast<int>(sources.size()), nullptr,
                   sources[0].size() / dtype_bytes(dtype), out.data());
  Bytes result(sources[0].size());
  std::memcpy(result.data(), out.data(), result.size());
  return result;
}

Bytes scaled(int dtype, const Bytes& source, uint64_t scalar) {
  std::vector<uint64_t> in(source.size() / 8 + 1), out(source.size() / 8 + 1);
  std::memcpy(in.data(), source.data(), source.size());
  const void* const pointer = in.data();
  const void* const factor = &scalar;
  reference_reduce(dtype, PURLIN_PREMUL_SUM, &pointer, 1, &factor,
                   source.size() / dtype_bytes(dtype), out.data());
  Bytes result(source.size());
  std::memcpy(result.data(), out.data(), result.size());
  return result;
}

PieceData make_data(const Piece& piece, int program_dtype, int op, uint64_t scalar,
                    std::mt19937_64& random) {
  const bool copy = piece.consume == PURLIN_CONSUME_COPY;
  const int dtype = dtype_of(piece, program_dtype);
  PieceData data;
  data.bytes = piece.count * dtype_bytes(dtype);
  for (size_t r = 0; r < piece.sources.size(); ++r)
    data.originals.push_back(piece.wild || copy ? wild_elements(dtype, piece.count, random)
                                                : tame_elements(dtype, piece.count, random));
  if (copy)
    data.expected = data.originals[0];
  else if (piece.consume == PURLIN_CONSUME_SCALE)
    data.expected = scaled(dtype, data.originals[0], scalar);
  else
    data.expected = reduced(dtype, op, data.originals);
  return data;
}

std::string piece_title(const Piece& piece, int dtype, int op) {
  const bool copy = piece.consume == PURLIN_CONSUME_COPY;
  return fmt::format("{}{} of {} bytes, {} sources, {} destinations", consume_name(piece.consume),
                     copy ? "" : fmt::format(", {} {}", dtype_name(dtype), op_name(op)),
                     piece.count * dtype_bytes(dtype_of(piece, dtype)), piece.sources.size(),
                     piece.targets.size());
}

}  // namespace purlin::tools::check
