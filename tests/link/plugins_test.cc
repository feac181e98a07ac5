// The built CUDA plugins, judged as the library judges them.
#include <doctest/doctest.h>

#include "level.h"
#include "link/programs.h"
#include "plugin/fit.h"
#include "plugin/judge.h"

using namespace purlin;

namespace {

purlin_device_facts device_of(uint32_t cc) {
  purlin_device_facts facts{};
  facts.struct_size = sizeof facts;
  facts.kind = PURLIN_ATOM_CUDA;
  facts.cc_major = cc / 10;
  facts.cc_minor = cc % 10;
  facts.multiprocessors = 100;
  // The opt-in maximum of each family; 99 KiB is the least of those that the ring is for.
  facts.shared_bytes_per_block = cc == 75                    ? 64u << 10
                                 : cc == 80                  ? 163u << 10
                                 : cc == 90 || cc / 10 == 10 ? 227u << 10
                                                             : 99u << 10;
  facts.multicast = cc == 90 || cc / 10 == 10 ? 1 : 0;
  facts.memory_bytes = 16ull << 30;
  facts.name = "a device";
  return facts;
}

plugin::Judged judge(const std::string& name) {
  return plugin::judge_file(PURLIN_BINARY_DIR "/lib/purlin/plugins/libatom-" + name + ".so",
                            plugin::Selection{});
}

}  // namespace

TEST_CASE("every CUDA plugin is accepted, and fits the devices that it is for with its defaults") {
  if (!have_device_code()) return;
  const struct {
    const char* name;
    uint32_t oldest;
  } plugins[] = {{"generic", 75}, {"ampere", 80}, {"hopper", 90}, {"blackwell", 100}, {"nvls", 90},
                 {"nvls-blackwell", 100}};
  for (const auto& p : plugins) {
    CAPTURE(p.name);
    const plugin::Judged judged = judge(p.name);
    REQUIRE_MESSAGE(judged.verdict.accepted, judged.verdict.reason);
    CHECK(judged.plugin->descriptor->architecture == p.oldest);
    for (const uint32_t cc : {75u, 80u, 86u, 89u, 90u, 100u, 103u}) {
      CAPTURE(cc);
      const plugin::Verdict fit = plugin::judge_fit(*judged.plugin, device_of(cc), {});
      CHECK_MESSAGE(fit.accepted == (cc >= p.oldest), fit.reason);
      test::count_cases(1);
    }
  }
}

TEST_CASE("each plugin carries one core image and a fragment for every dtype") {
  if (!have_device_code()) return;
  for (const char* name :
       {"generic", "ampere", "hopper", "blackwell", "nvls", "nvls-blackwell"}) {
    CAPTURE(name);
    uint32_t cores = 0;
    uint32_t dtypes = 0;
    for (const DeviceImage& image : built_atom(name).images) {
      CHECK_MESSAGE(check_image(image).is_ok(), describe(image));
      cores += image.role == PURLIN_IMAGE_CORE;
      if (image.role == PURLIN_IMAGE_REDUCTION && image.base == 75) dtypes |= 1u << image.dtype;
    }
    CHECK(cores == 1);
    CHECK(dtypes == (1u << PURLIN_DTYPE_COUNT) - 1);
  }
}
