// A folder of its own for each test, filled with plugins in every state.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "plugin/judge.h"
#include "plugin/registry.h"
#include "plugin/selection.h"

namespace purlin::test {

// Path of a plugin that test.cmake builds: built("sound") is …/faulty/libatom-sound.so.
std::filesystem::path built(const std::string& file);

std::vector<std::byte> read_bytes(const std::filesystem::path& path);

// Made empty, removed with everything in it at the end.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

  // Copies a built plugin to `name`; "" keeps its own file name. Parents are made. Returns the
  // path.
  std::filesystem::path add(const std::string& file, const std::string& name = "");
  std::filesystem::path write(const std::string& name, const std::vector<std::byte>& bytes);
  std::filesystem::path folder(const std::string& name);

  // Searches this folder alone.
  plugin::Selection selection() const;

 private:
  std::filesystem::path path_;
};

// An environment variable for the length of a scope.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value);
  ~ScopedVariable();
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
  bool had_;
  std::string before_;
};

// The verdict on a built plugin, copied to a safe folder first.
plugin::Verdict verdict_of(const std::string& file);

// The rule by which the file of this name was judged in the first folder that holds it; "absent"
// when there is none.
std::string rule_of(const plugin::Catalogue& catalogue, const std::string& file_name);

// Atom names of the candidates that fit, in order.
std::vector<std::string> fitting(const plugin::Catalogue& catalogue);

// Facts of a GPU that is not there.
purlin_device_facts cuda_facts(unsigned major, unsigned minor);

}  // namespace purlin::test
