# purlin_add_atom(NAME name HOST_SOURCES file... [DEVICE_SOURCE core.cu BASES 90 ...]
#                 [VERSION_SCRIPT file] [OUTPUT_DIRECTORY folder])
# builds one Atom plugin, the target atom-NAME, libatom-NAME.so. With DEVICE_SOURCE it carries that file as
# its core image for each base, and the reduction fragments of the package; its sources then include
# "atom_images.h", which declares the array atom_images. Needs C and C++, and a CUDA toolkit
# (PURLIN_HAVE_CUDA) for device code.
#
# The plugin exports its entry alone (VERSION_SCRIPT: cmake/atom.version unless given) and needs no library of
# CUDA. Purlin's own Atoms are built by this very file.
set(purlin_atom_version_script ${CMAKE_CURRENT_LIST_DIR}/atom.version)

function(purlin_add_atom)
  cmake_parse_arguments(ARG "" "NAME;OUTPUT_DIRECTORY;DEVICE_SOURCE;VERSION_SCRIPT" "HOST_SOURCES;BASES"
    ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_HOST_SOURCES)
    message(FATAL_ERROR "purlin_add_atom: NAME and HOST_SOURCES are needed; not understood: "
      "'${ARG_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT ARG_NAME MATCHES "^[a-z0-9-]+$")
    message(FATAL_ERROR "purlin_add_atom: NAME '${ARG_NAME}' must match [a-z0-9-]+, as in its descriptor")
  endif()
  if(ARG_DEVICE_SOURCE AND NOT ARG_BASES)
    message(FATAL_ERROR "purlin_add_atom(${ARG_NAME}): DEVICE_SOURCE needs BASES, such as 80 90")
  endif()
  if(ARG_DEVICE_SOURCE AND NOT PURLIN_HAVE_CUDA)
    message(FATAL_ERROR "purlin_add_atom(${ARG_NAME}): ${ARG_DEVICE_SOURCE} needs nvcc and a Purlin that was "
      "built with it; set CUDA_HOME, or leave this Atom out where PURLIN_HAVE_CUDA is off")
  endif()
  if(NOT CMAKE_C_COMPILER OR NOT CMAKE_CXX_COMPILER)
    message(FATAL_ERROR "purlin_add_atom(${ARG_NAME}): enable C and CXX, as project(x LANGUAGES C CXX) does")
  endif()
  set(target atom-${ARG_NAME})
  add_library(${target} MODULE ${ARG_HOST_SOURCES})
  target_link_libraries(${target} PRIVATE purlin::sdk $<TARGET_NAME_IF_EXISTS:purlin_settings>)
  target_compile_features(${target} PRIVATE cxx_std_20)
  # No contraction: sums have the same bits on every machine.
  target_compile_options(${target} PRIVATE -ffp-contract=off)
  if(ARG_DEVICE_SOURCE)
    purlin_device_image(TARGET ${target} TABLE atom_images SOURCE ${ARG_DEVICE_SOURCE} ROLE core
      BASES ${ARG_BASES})
    purlin_device_image_table(TARGET ${target} TABLE atom_images FROM purlin_reductions reductions)
  endif()
  if(NOT ARG_VERSION_SCRIPT)
    set(ARG_VERSION_SCRIPT ${purlin_atom_version_script})
  endif()
  get_filename_component(script ${ARG_VERSION_SCRIPT} ABSOLUTE)
  target_link_options(${target} PRIVATE -Wl,--version-script=${script} -Wl,-z,defs)
  set_target_properties(${target} PROPERTIES PREFIX lib LINK_DEPENDS ${script}
    POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  if(NOT ARG_OUTPUT_DIRECTORY)
    set(ARG_OUTPUT_DIRECTORY ${PURLIN_PLUGIN_OUTPUT_DIRECTORY})
  endif()
  if(ARG_OUTPUT_DIRECTORY)
    set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${ARG_OUTPUT_DIRECTORY})
  endif()
endfunction()
