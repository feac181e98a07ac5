# Device code as plain bytes inside a host target.
#
#   purlin_device_image(TARGET target TABLE name SOURCE file.cu ROLE core|reduction|universal
#                       BASES 75 90a 100f ... [DTYPES bf16 f32 ...]
#                       [INCLUDES dir ...] [DEFINES X=1 ...] [OPTIONS ...])
# compiles SOURCE to an LTO-IR fatbin for each base architecture; for reductions, for each dtype too,
# with PURLIN_REDUCTION_DTYPE defined to its enumerator (PURLIN_BF16). May be called several times.
#
#   purlin_device_image_files(TARGET custom-target TABLE name)
# ends the list of a custom target, which then makes the files; tables take them over with FROM.
#
#   purlin_device_image_table(TARGET target TABLE name [FROM custom-target table])
# ends the list: TARGET gets a C source that embeds the bytes and defines
#     const purlin_atom_image name[];    const uint64_t name_count;
# and can include "name.h", which declares both. Without a CUDA toolkit the table is empty, so the
# same host code builds.
#
# The images hold no host code and need no CUDA runtime: nothing registers itself.

# In this project; an installed package says where its headers lie.
if(NOT purlin_sdk_include)
  set(purlin_sdk_include ${CMAKE_CURRENT_LIST_DIR}/../runtime/include)
endif()
set(purlin_embed_script ${CMAKE_CURRENT_LIST_DIR}/embed_images.cmake)

function(purlin_device_image)
  cmake_parse_arguments(ARG "" "TARGET;TABLE;SOURCE;ROLE" "BASES;DTYPES;INCLUDES;DEFINES;OPTIONS" ${ARGN})
  if(NOT ARG_TARGET OR NOT ARG_TABLE OR NOT ARG_SOURCE OR NOT ARG_BASES)
    message(FATAL_ERROR "purlin_device_image: TARGET, TABLE, SOURCE and BASES are needed")
  endif()
  if(NOT ARG_ROLE MATCHES "^(core|reduction|universal)$")
    message(FATAL_ERROR "purlin_device_image: ROLE is core, reduction or universal, not '${ARG_ROLE}'")
  endif()
  if(ARG_ROLE STREQUAL reduction AND NOT ARG_DTYPES)
    message(FATAL_ERROR "purlin_device_image: a reduction names its DTYPES")
  endif()
  if(NOT PURLIN_HAVE_CUDA)
    return()
  endif()
  set(compiler 0)
  if(PURLIN_CUDA_VERSION MATCHES "^([0-9]+)\\.([0-9]+)")
    math(EXPR compiler "${CMAKE_MATCH_1} * 1000 + ${CMAKE_MATCH_2} * 10")
  endif()
  # nvcc takes g++ unless told otherwise.
  set(host_compiler "")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    set(host_compiler -ccbin ${CMAKE_CXX_COMPILER})
  endif()
  get_filename_component(source ${ARG_SOURCE} ABSOLUTE)
  get_filename_component(stem ${source} NAME_WE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${ARG_TABLE}.images)
  file(MAKE_DIRECTORY ${folder})
  set(includes "")
  foreach(dir ${purlin_sdk_include} ${ARG_INCLUDES})
    get_filename_component(dir ${dir} ABSOLUTE)
    list(APPEND includes -I${dir})
  endforeach()
  list(TRANSFORM ARG_DEFINES PREPEND -D)
  set(dtypes ${ARG_DTYPES})
  if(NOT dtypes)
    set(dtypes none)
  endif()
  foreach(base ${ARG_BASES})
    if(NOT base MATCHES "^([0-9]+)([af]?)$")
      message(FATAL_ERROR "purlin_device_image: base '${base}' is not like 75, 90a or 100f")
    endif()
    set(number ${CMAKE_MATCH_1})
    set(specific 0)
    if(CMAKE_MATCH_2)
      set(specific "'${CMAKE_MATCH_2}'")
    endif()
    foreach(dtype ${dtypes})
      set(id ${stem}_${base})
      set(words "${stem} ${base}")
      set(enumerator 0)
      set(define "")
      if(NOT dtype STREQUAL none)
        string(TOUPPER ${dtype} upper)
        set(enumerator PURLIN_${upper})
        set(id ${stem}_${dtype}_${base})
        set(words "${stem} ${dtype} ${base}")
        set(define -DPURLIN_REDUCTION_DTYPE=${enumerator})
      endif()
      string(MAKE_C_IDENTIFIER ${id} id)
      set(image ${folder}/${id}.fatbin)
      add_custom_command(OUTPUT ${image}
        COMMAND ${PURLIN_CCACHE} ${PURLIN_NVCC} ${host_compiler} -std=c++20 -dc -fatbin
                -Werror cross-execution-space-call
                -gencode arch=compute_${base},code=lto_${base} ${includes} ${ARG_DEFINES} ${define}
                ${ARG_OPTIONS} ${source} -o ${image} -MD -MF ${image}.d
        DEPENDS ${source} DEPFILE ${image}.d
        COMMENT "Compiling ${words} to LTO-IR" VERBATIM)
      string(TOUPPER ${ARG_ROLE} role)
      set_property(TARGET ${ARG_TARGET} APPEND PROPERTY PURLIN_IMAGES_${ARG_TABLE}
        "${id}|PURLIN_IMAGE_${role}|${enumerator}|${number}|${specific}|${words}|${compiler}|${image}")
    endforeach()
  endforeach()
endfunction()

function(purlin_device_image_files)
  cmake_parse_arguments(ARG "" "TARGET;TABLE" "" ${ARGN})
  get_target_property(images ${ARG_TARGET} PURLIN_IMAGES_${ARG_TABLE})
  list(TRANSFORM images REPLACE "^.*\\|" "")
  add_custom_target(${ARG_TARGET}_files DEPENDS ${images})
  add_dependencies(${ARG_TARGET} ${ARG_TARGET}_files)
endfunction()

function(purlin_device_image_table)
  cmake_parse_arguments(ARG "" "TARGET;TABLE" "FROM" ${ARGN})
  get_target_property(entries ${ARG_TARGET} PURLIN_IMAGES_${ARG_TABLE})
  if(NOT entries)
    set(entries "")
  endif()
  set(other "")
  if(ARG_FROM)
    list(GET ARG_FROM 0 other)
    list(GET ARG_FROM 1 table)
    get_target_property(others ${other} PURLIN_IMAGES_${table})
    list(APPEND entries ${others})
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${ARG_TABLE}.images)
  file(MAKE_DIRECTORY ${folder})
  set(list ${folder}/${ARG_TABLE}.list)
  list(JOIN entries "\n" text)
  file(CONFIGURE OUTPUT ${list} CONTENT "${text}\n" @ONLY)
  set(images ${entries})
  list(TRANSFORM images REPLACE "^.*\\|" "")
  add_custom_command(OUTPUT ${folder}/${ARG_TABLE}.c ${folder}/${ARG_TABLE}.h
    COMMAND ${CMAKE_COMMAND} -DTABLE=${ARG_TABLE} -DLIST=${list} -DFOLDER=${folder}
            -P ${purlin_embed_script}
    DEPENDS ${images} ${list} ${purlin_embed_script} ${other}
    COMMENT "Embedding the device images of ${ARG_TABLE}" VERBATIM)
  target_sources(${ARG_TARGET} PRIVATE ${folder}/${ARG_TABLE}.c ${folder}/${ARG_TABLE}.h)
  target_include_directories(${ARG_TARGET} PRIVATE ${folder})
endfunction()
