# purlin_add_atom(NAME name HOST_SOURCES file... [DEVICE_SOURCE core.cu BASES 90 ...])
# builds one Atom plugin, libatom-NAME.so. With DEVICE_SOURCE it carries that file as its core image for
# each base, and the project's reduction fragments; its sources then include "atom_images.h", which
# declares the array atom_images.
function(purlin_add_atom)
  cmake_parse_arguments(ARG "" "NAME;OUTPUT_DIRECTORY;DEVICE_SOURCE" "HOST_SOURCES;BASES" ${ARGN})
  set(target atom-${ARG_NAME})
  add_library(${target} MODULE ${ARG_HOST_SOURCES})
  target_link_libraries(${target} PRIVATE purlin_settings purlin_sdk)
  if(ARG_DEVICE_SOURCE)
    purlin_device_image(TARGET ${target} TABLE atom_images SOURCE ${ARG_DEVICE_SOURCE} ROLE core
      BASES ${ARG_BASES})
    purlin_device_image_table(TARGET ${target} TABLE atom_images FROM purlin_reductions reductions)
  endif()
  if(NOT ARG_OUTPUT_DIRECTORY)
    set(ARG_OUTPUT_DIRECTORY ${PURLIN_PLUGIN_OUTPUT_DIRECTORY})
  endif()
  set_target_properties(${target} PROPERTIES PREFIX lib
    LIBRARY_OUTPUT_DIRECTORY ${ARG_OUTPUT_DIRECTORY})
endfunction()
