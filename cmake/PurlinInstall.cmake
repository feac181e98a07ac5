# Where things are installed, and in which of three components: `runtime` (library, Atoms, policies), `tools`
# (the purlin command) and `dev` (headers, CMake package, reduction fragments, examples). Everything is found
# relative to the library, so a prefix may be moved as a whole.
set(CMAKE_INSTALL_LIBDIR lib CACHE PATH "Folder of libraries below the prefix")
include(GNUInstallDirs)
set(PURLIN_INSTALL_PLUGINS ${CMAKE_INSTALL_LIBDIR}/purlin/plugins)
set(PURLIN_INSTALL_PACKAGE ${CMAKE_INSTALL_LIBDIR}/cmake/purlin)
set(PURLIN_INSTALL_REDUCTIONS ${CMAKE_INSTALL_LIBDIR}/purlin/reductions)
set(PURLIN_INSTALL_EXAMPLES ${CMAKE_INSTALL_DATADIR}/purlin/examples)

# purlin_install_device_images(TARGET custom-target TABLE name DESTINATION folder)
# installs the files of purlin_device_image_files and NAME.list, which purlinConfig.cmake reads.
function(purlin_install_device_images)
  cmake_parse_arguments(ARG "" "TARGET;TABLE;DESTINATION" "" ${ARGN})
  get_target_property(entries ${ARG_TARGET} PURLIN_IMAGES_${ARG_TABLE})
  set(files ${entries})
  list(TRANSFORM files REPLACE "^.*\\|" "")
  list(TRANSFORM entries REPLACE "[^|]*/" "")
  list(JOIN entries "\n" text)
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${ARG_TABLE}.list)
  file(CONFIGURE OUTPUT ${list} CONTENT "${text}\n" @ONLY)
  install(FILES ${files} ${list} DESTINATION ${ARG_DESTINATION} COMPONENT dev)
endfunction()
