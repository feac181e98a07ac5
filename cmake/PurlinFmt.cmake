# purlin_fmt: fmt compiled once. Debian has no static fmt, and its header-only form compiles the whole
# formatter again in every file: three of the four seconds that such a file takes. The definitions come
# from the installed headers; the shared library keeps them to itself.
find_package(fmt REQUIRED)
if(fmt_VERSION VERSION_GREATER_EQUAL 9 AND fmt_VERSION VERSION_LESS 10)
  set(purlin_fmt_source ${CMAKE_BINARY_DIR}/purlin_fmt.cc)
  file(CONFIGURE OUTPUT ${purlin_fmt_source} CONTENT [[
#include <fmt/format-inl.h>
// What format.h declares as instantiated elsewhere.
FMT_BEGIN_NAMESPACE
namespace detail {
template auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;
}
FMT_END_NAMESPACE
]])
  add_library(purlin_fmt STATIC ${purlin_fmt_source})
  get_target_property(purlin_fmt_include fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(purlin_fmt SYSTEM PUBLIC ${purlin_fmt_include})
else()
  add_library(purlin_fmt INTERFACE)
  target_link_libraries(purlin_fmt INTERFACE fmt::fmt-header-only)
endif()
