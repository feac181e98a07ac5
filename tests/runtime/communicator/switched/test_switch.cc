#include "test_switch.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>

#include "reference/element.h"

namespace purlin::test {
namespace {

// A function of the Atom, which the communicators have loaded.
template <class Function>
Function* of_atom(const char* name) {
  const std::string path =
      fmt::format("{}/tests/plugins/testswitch/libatom-testswitch.so", PURLIN_BINARY_DIR);
  void* const atom = dlopen(path.c_str(), RTLD_NOW);
  void* const function = atom == nullptr ? nullptr : dlsym(atom, name);
  if (function == nullptr) throw std::runtime_error(dlerror());
  return reinterpret_cast<Function*>(function);
}

}  // namespace

const std::vector<std::pair<const char*, const char*>> kOffSwitches = {
    {"PURLIN_NVLS_ENABLE", "0"},
    {"NCCL_NVLS_ENABLE", "0"},
    {"TORCH_SYMM_MEM_DISABLE_MULTICAST", "1"},
    {"NVSHMEM_DISABLE_NVLS", "1"}};

std::string switch_policy(const std::string& reduction) {
  return fmt::format(
      "version: 1\nstaging: {{latency_bytes: 64KiB, throughput_bytes: 64KiB}}\ncrossover: 1KiB\n"
      "tuning: {{default: {{chunk: 1KiB}}}}\nplugins: {{path: [{}/tests/plugins/testswitch]}}\n"
      "reduction: {}\n",
      PURLIN_BINARY_DIR, reduction);
}

SwitchUse switch_use() {
  static auto* const loads = of_atom<uint64_t()>("purlin_testswitch_loads");
  static auto* const stores = of_atom<uint64_t()>("purlin_testswitch_stores");
  return {loads(), stores()};
}

void seed_switch(uint64_t seed) { of_atom<void(uint64_t)>("purlin_testswitch_seed")(seed); }

std::vector<unsigned char> whole_elements(purlin_dtype dtype, uint64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  const bool narrow = dtype == PURLIN_F8E4M3 || dtype == PURLIN_F8E5M2;
  std::vector<unsigned char> bytes(count * reference::element_bytes(dtype));
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t any = random();
    const bool floating = reference::shape_of(dtype).floating;
    const double value = static_cast<double>(any % (narrow ? 2 : 16)) - (narrow ? 0 : 5);
    reference::store_bits(dtype, bytes.data(), i,
                          floating ? reference::encode(dtype, value) : any);
  }
  return bytes;
}

NoOffSwitches::NoOffSwitches() {
  for (const auto& [name, off] : kOffSwitches) {
    const char* value = std::getenv(name);
    saved_.emplace_back(value == nullptr ? "" : value);
    unsetenv(name);
  }
}

NoOffSwitches::~NoOffSwitches() {
  for (size_t i = 0; i < saved_.size(); ++i) {
    if (saved_[i].empty()) unsetenv(kOffSwitches[i].first);
    else setenv(kOffSwitches[i].first, saved_[i].c_str(), 1);
  }
}

CaughtErrors::CaughtErrors() : saved_(dup(2)), file_(memfd_create("caught errors", 0)) {
  std::fflush(stderr);
  dup2(file_, 2);
}

CaughtErrors::~CaughtErrors() {
  std::fflush(stderr);
  dup2(saved_, 2);
  close(saved_);
  close(file_);
}

std::string CaughtErrors::text() {
  std::fflush(stderr);
  std::string text(static_cast<size_t>(lseek(file_, 0, SEEK_END)), '\0');
  return pread(file_, text.data(), text.size(), 0) < 0 ? "" : text;
}

}  // namespace purlin::test
