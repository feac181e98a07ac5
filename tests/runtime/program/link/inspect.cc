#include "runtime/program/link/inspect.h"

#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <regex>

#include "level.h"

namespace purlin {
namespace {

size_t count(const std::string& text, const char* pattern) {
  const std::regex expression(pattern);
  return static_cast<size_t>(std::distance(
      std::sregex_iterator(text.begin(), text.end(), expression), std::sregex_iterator()));
}

std::optional<std::string> output_of(const std::string& command) {
  std::string out;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  char buffer[4096];
  while (size_t got = fread(buffer, 1, sizeof(buffer), pipe)) out.append(buffer, got);
  if (pclose(pipe) != 0) return std::nullopt;
  return out;
}

std::string disassembler() {
  const std::string installed = PURLIN_SOURCE_DIR "/build/disassembler/nvdisasm";
  if (access(installed.c_str(), X_OK) == 0) return installed;
  return output_of("command -v nvdisasm") ? "nvdisasm" : "";
}

// Labels within the kernel, and the assembler's own handful of instructions for votes among lanes
// that may have diverged, are no functions.
bool is_own_label(const std::string& operands) {
  return operands.find("`(.L_x_") != std::string::npos ||
         operands.find("$__cuda_sm70_") != std::string::npos;
}

}  // namespace

MachineCode count_instructions(const std::string& sass) {
  // "/*0040*/   @P0 CALL.REL.NOINC `(.L_x_0) ;" with the predicate at will.
  MachineCode out;
  static const std::regex line(
      R"(/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)([^;\n]*))");
  for (std::sregex_iterator at(sass.begin(), sass.end(), line), end; at != end; ++at) {
    const std::string name = (*at)[1];
    const std::string root = name.substr(0, name.find('.'));
    const std::string operands = (*at)[2];
    const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
    out.instructions++;
    if (root == "CALL" && !is_own_label(operands)) out.calls++;
    if (root == "LDL" || root == "STL") out.local++;
    if (root == "FADD" || root == "FADD2") out.f32_sums++;
    if (root == "FFMA" || root == "FFMA2" || root == "DFMA" || root == "HFMA2") out.contractions++;
    if (root == "LDG" && has(".CONSTANT")) out.noncoherent++;
    if (has(".128") && has(".SYS")) out.system_128++;
  }
  return out;
}

std::optional<std::string> disassemble(const std::vector<std::byte>& cubin) {
  const std::string tool = disassembler();
  if (tool.empty()) {
    test::skip("no nvdisasm: tests/tools/install_disassembler.sh installs it");
    return std::nullopt;
  }
  char path[] = "/tmp/purlin-sass-XXXXXX";
  const int fd = mkstemp(path);
  if (fd < 0) return "";
  close(fd);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(cubin.data()),
             static_cast<std::streamsize>(cubin.size()));
  const auto sass = output_of(tool + " -c " + path);
  unlink(path);
  return sass.value_or("");
}

size_t noncoherent_loads(const std::string& ptx) {
  return count(ptx, R"(\bld\.global(\.\w+)*\.nc\b)");
}

size_t contractions(const std::string& ptx) { return count(ptx, R"(\bfma\.)"); }

}  // namespace purlin
