#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "gpu/fake_driver.h"

namespace purlin::test {

FakeControl& open_fake_driver(const char* path, const FakeSetup& setup) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const auto control =
      library == nullptr
          ? nullptr
          : reinterpret_cast<FakeControl* (*)()>(dlsym(library, "purlin_fake_control"));
  if (control == nullptr) {
    std::fprintf(stderr, "the fake driver %s cannot be opened: %s\n", path, dlerror());
    std::abort();
  }
  control()->reset(setup);
  return *control();
}

}  // namespace purlin::test
