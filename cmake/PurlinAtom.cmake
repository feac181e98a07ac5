# purlin_add_atom(NAME name HOST_SOURCES file... ) builds one Atom plugin, libatom-NAME.so.
function(purlin_add_atom)
  cmake_parse_arguments(ARG "" "NAME;OUTPUT_DIRECTORY" "HOST_SOURCES" ${ARGN})
  set(target atom-${ARG_NAME})
  add_library(${target} MODULE ${ARG_HOST_SOURCES})
  target_link_libraries(${target} PRIVATE purlin_settings purlin_sdk)
  if(NOT ARG_OUTPUT_DIRECTORY)
    set(ARG_OUTPUT_DIRECTORY ${PURLIN_PLUGIN_OUTPUT_DIRECTORY})
  endif()
  set_target_properties(${target} PROPERTIES PREFIX lib
    LIBRARY_OUTPUT_DIRECTORY ${ARG_OUTPUT_DIRECTORY})
endfunction()
