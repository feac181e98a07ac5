# Build step behind purlin_device_image_table: writes TABLE.c and TABLE.h in FOLDER from LIST, whose
# lines are id|role|dtype|base|specific|words|compiler|file. Runs after the images exist, so that their sizes
# are literals; the bytes themselves come in through the assembler.
file(STRINGS ${LIST} entries)
set(bytes "")
set(rows "")
set(count 0)
foreach(entry ${entries})
  string(REPLACE "|" ";" part "${entry}")
  list(GET part 0 id)
  list(GET part 1 role)
  list(GET part 2 dtype)
  list(GET part 3 base)
  list(GET part 4 specific)
  list(GET part 5 words)
  list(GET part 6 compiler)
  list(GET part 7 image)
  file(SIZE ${image} size)
  set(symbol ${TABLE}_${id})
  string(APPEND bytes
    "__asm__(\".pushsection .rodata\\n\\t.balign 16\\n${symbol}:\\n\"\n"
    "        \"\\t.incbin \\\"${image}\\\"\\n\\t.popsection\");\n"
    "extern const unsigned char ${symbol}[] __attribute__((visibility(\"hidden\")));\n")
  string(APPEND rows
    "    {.struct_size = sizeof(purlin_atom_image), .kind = PURLIN_IMAGE_LTOIR_FATBIN, .role = ${role},\n"
    "     .dtype = ${dtype}, .base = ${base}, .arch_specific = ${specific}, .data = ${symbol},\n"
    "     .bytes = ${size}, .name = \"${words}\", .compiler = ${compiler}},\n")
  math(EXPR count "${count} + 1")
endforeach()
set(length ${count})
if(count EQUAL 0)
  set(rows "    {.struct_size = 0},\n")  # C has no empty arrays; the count below says 0
  set(length 1)
endif()
file(WRITE ${FOLDER}/${TABLE}.h
"#pragma once

#include \"purlin/atom_abi.h\"

#ifdef __cplusplus
extern \"C\" {
#endif
extern const purlin_atom_image ${TABLE}[${length}];
extern const uint64_t ${TABLE}_count; /* ${count} */
#ifdef __cplusplus
}
#endif
")
file(WRITE ${FOLDER}/${TABLE}.c
"#include \"${TABLE}.h\"

${bytes}
const purlin_atom_image ${TABLE}[${length}] = {
${rows}};
const uint64_t ${TABLE}_count = ${count};
")
