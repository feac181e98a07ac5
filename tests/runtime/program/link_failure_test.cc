#include "program/link_failure.h"

#include <doctest/doctest.h>

using namespace purlin;

namespace {
bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
}  // namespace

TEST_CASE("an unresolved name is explained by what it belongs to") {
  CHECK(contains(explain_unresolved("purlin_atom_run_d1"), "belongs to device ABI 1"));
  CHECK(contains(explain_unresolved("purlin_constant_nranks_d9"), "belongs to device ABI 9"));
  CHECK(contains(explain_unresolved("purlin_constant_nranks_d2"), "constant 'nranks'"));
  CHECK(contains(explain_unresolved("purlin_atom_run_d2"), "no image of the program defines"));
  CHECK(contains(explain_unresolved("memcpy"), "no image of the program defines 'memcpy'"));
  CHECK(contains(explain_unresolved("x_d"), "no image of the program defines 'x_d'"));
}

TEST_CASE("a failure tells call, library, release, code, log and remedy") {
  const Status s =
      link_failure({"nvJitLinkComplete", 4, "/lib/libnvJitLink.so.13", 13000, "options",
                    "ptxas fatal   : Unresolved extern function 'f_d2'\n\0"});
  CHECK(s.code() == PURLIN_LINK_ERROR);
  for (const char* part : {"nvJitLinkComplete of /lib/libnvJitLink.so.13 (13.0)",
                           "4 (NVJITLINK_ERROR_PTX_COMPILE)", "ptxas fatal", "defines 'f_d2'"})
    CHECK_MESSAGE(contains(s.message(), part), s.message());
  const Status arch = link_failure({"nvJitLinkCreate", 16, "l", 13000, "options -arch=sm_91", ""});
  CHECK(contains(arch.message(), "does not know the device"));
  CHECK(contains(nvjitlink_result_name(99), "not known"));
  CHECK(contains(nvjitlink_result_name(-1), "not known"));
}

TEST_CASE("a linker serves compilers of its major up to its own minor") {
  struct Row {
    CudaRelease linker, compiler;
    bool fits;
  };
  for (const Row& row : {Row{13000, 13000, true}, Row{13010, 13000, true}, Row{13000, 13010, false},
                         Row{13000, 12090, false}, Row{12090, 13000, false}, Row{13000, 0, true}}) {
    const Status s = check_linker(row.linker, "/lib/linker", row.compiler, "'atom'");
    CHECK(s.is_ok() == row.fits);
    if (!s.is_ok()) {
      CHECK(contains(s.message(), cuda_release_text(row.compiler)));
      CHECK(contains(s.message(), cuda_release_text(row.linker)));
      CHECK(contains(s.message(), "/lib/linker"));
      CHECK(contains(s.message(), "install nvJitLink"));
    }
  }
}
