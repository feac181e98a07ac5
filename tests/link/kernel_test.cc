// An application's own kernels, linked with each Atom through the public API.
#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "atom_bench_images.h"
#include "level.h"
#include "link/programs.h"
#include "program/cubin.h"
#include "purlin/purlin.h"

namespace purlin {
namespace {

const char* const kNames[] = {"purlin_bench_atom", "purlin_bench_plain", "purlin_bench_chase"};

purlin_kernel_request request_for(const char* atom, const char* device) {
  purlin_kernel_request request = {};
  request.struct_size = sizeof request;
  request.device = device;
  request.atom = atom;
  request.images = atom_bench_images;
  request.image_count = atom_bench_images_count;
  request.kernels = kNames;
  request.kernel_count = 3;
  request.nranks = 1;
  return request;
}

struct Free {
  void operator()(purlin_kernel* kernel) const { purlin_free_kernel(kernel); }
};
using Kernel = std::unique_ptr<purlin_kernel, Free>;

Kernel link(const purlin_kernel_request& request) {
  purlin_kernel* kernel = nullptr;
  const purlin_status status = purlin_link_kernel(&request, &kernel);
  CHECK_MESSAGE(status == PURLIN_OK, purlin_last_error());
  CHECK((kernel != nullptr) == (status == PURLIN_OK));
  return Kernel(kernel);
}

TEST_CASE("a kernel links with each Atom, copying and reducing, and keeps to registers") {
  if (!have_device_code()) return;
  struct Pair {
    const char *atom, *device;
  };
  for (const Pair& pair :
       {Pair{"generic", "sm_75"}, Pair{"generic", "sm_90"}, Pair{"ampere", "sm_80"},
        Pair{"hopper", "sm_90"}, Pair{"blackwell", "sm_100"}}) {
    for (const bool reduces : {false, true}) {
      CAPTURE(pair.atom);
      CAPTURE(pair.device);
      CAPTURE(reduces);
      purlin_kernel_request request = request_for(pair.atom, pair.device);
      request.reduces = reduces;
      request.dtype = PURLIN_BF16;
      request.op = PURLIN_SUM;
      request.nranks = reduces ? 4 : 1;
      const Kernel kernel = link(request);
      REQUIRE(kernel);
      CHECK(std::string(kernel->atom) == pair.atom);
      CHECK(kernel->threads % 32 == 0);
      CHECK(kernel->shared_bytes >= kernel->stages * kernel->stage_bytes);
      const auto* bytes = static_cast<const std::byte*>(kernel->cubin);
      const auto facts = read_cubin({bytes, kernel->cubin_bytes});
      REQUIRE(facts.is_ok());
      bool found = false;
      for (const KernelResources& one : facts->kernels) {
        if (one.name != kNames[0]) continue;
        found = true;
        CHECK(one.local_bytes == 0);
      }
      CHECK(found);
      test::count_cases(1);
    }
  }
}

TEST_CASE("the policy chooses the Atom that nobody names") {
  if (!have_device_code()) return;
  purlin_kernel_request request = request_for(nullptr, "sm_90");
  request.stages = 2;
  request.stage_bytes = 32 << 10;
  const Kernel kernel = link(request);
  REQUIRE(kernel);
  CHECK(kernel->stages == 2);
  CHECK(kernel->stage_bytes == 32 << 10);
}

TEST_CASE("a request that makes no sense is refused by field") {
  const auto refused = [](const purlin_kernel_request& request, purlin_status status,
                          const char* word) {
    purlin_kernel* kernel = nullptr;
    CHECK(purlin_link_kernel(&request, &kernel) == status);
    CHECK(kernel == nullptr);
    const std::string text = purlin_last_error();
    CHECK_MESSAGE(text.find(word) != std::string::npos, text);
  };
  purlin_kernel_request request = request_for("generic", "sm_90");
  request.struct_size = 8, refused(request, PURLIN_INVALID_ARGUMENT, "struct_size");
  request = request_for("generic", nullptr), refused(request, PURLIN_INVALID_ARGUMENT, "device");
  request = request_for("generic", "host"), refused(request, PURLIN_INVALID_ARGUMENT, "GPUs");
  request = request_for("generic", "sm_90");
  request.nranks = 17, refused(request, PURLIN_INVALID_ARGUMENT, "nranks");
  request.nranks = 2, request.reduces = 1, request.dtype = 99;
  refused(request, PURLIN_INVALID_ARGUMENT, "dtype");
  request.dtype = PURLIN_F32, request.op = 99;
  refused(request, PURLIN_INVALID_ARGUMENT, "op");
  request = request_for("generic", "sm_90");
  request.kernel_count = 0, refused(request, PURLIN_INVALID_ARGUMENT, "kernels");
  request.kernel_count = 3, request.image_count = 0;
  refused(request, PURLIN_INVALID_ARGUMENT, "images");
  if (!have_device_code()) return;
  request = request_for("hopper", "sm_90");
  request.stages = 99, refused(request, PURLIN_INVALID_ARGUMENT, "stages is 99");
  request = request_for("no-such", "sm_90"), refused(request, PURLIN_PLUGIN_ERROR, "no-such");
  request = request_for("hopper", "sm_80"), refused(request, PURLIN_PLUGIN_ERROR, "hopper");
  purlin_kernel* kernel = nullptr;
  CHECK(purlin_link_kernel(nullptr, &kernel) == PURLIN_INVALID_ARGUMENT);
  CHECK(purlin_link_kernel(&request, nullptr) == PURLIN_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace purlin
