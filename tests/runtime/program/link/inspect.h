// What a link test looks for in machine code and in PTX.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace purlin {

// Instructions of a cubin, counted by what they tell.
struct MachineCode {
  size_t instructions = 0;
  size_t calls = 0;     // CALL of a function: something was not inlined
  size_t local = 0;     // LDL, STL: registers did not suffice, or an array is indexed at run time
  size_t f32_sums = 0;  // FADD
  size_t contractions = 0;  // FFMA, DFMA, HFMA2 …: a product and a sum rounded once
  size_t noncoherent = 0;   // LDG.CONSTANT: loads through a cache that is not coherent with peers
  size_t system_128 = 0;    // 128-bit accesses of system scope: packets
};

// Counts in a listing of nvdisasm -c.
MachineCode count_instructions(const std::string& sass);

// A listing by build/disassembler/nvdisasm, else by an nvdisasm on PATH. Nothing, after saying that
// the test skips, when there is neither; empty when it fails.
std::optional<std::string> disassemble(const std::vector<std::byte>& cubin);

// Loads that may be served from a cache that is not coherent with peers (ld.global.nc).
size_t noncoherent_loads(const std::string& ptx);
// Products and sums rounded once (fma).
size_t contractions(const std::string& ptx);

}  // namespace purlin
