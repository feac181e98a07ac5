# The plugins that the tests judge. They lie under tests/plugins, never in the product's folder.
set(purlin_faulty_folder ${PROJECT_BINARY_DIR}/tests/plugins/faulty)
target_compile_definitions(${name} PRIVATE PURLIN_FAULTY_FOLDER="${purlin_faulty_folder}")

# purlin_faulty_atom(FILE definition...) builds faulty/atom.cc into libatom-FILE.so.
function(purlin_faulty_atom file)
  set(target faulty-${file})
  add_library(${target} MODULE ${CMAKE_CURRENT_SOURCE_DIR}/runtime/plugin/faulty/atom.cc)
  target_link_libraries(${target} PRIVATE purlin_settings purlin_sdk)
  target_compile_definitions(${target} PRIVATE ${ARGN})
  set_target_properties(${target} PROPERTIES PREFIX lib OUTPUT_NAME atom-${file}
    LIBRARY_OUTPUT_DIRECTORY ${purlin_faulty_folder})
  add_dependencies(test_runtime_plugin ${target})
endfunction()

purlin_faulty_atom(sound)
purlin_faulty_atom(constructor ATOM_NAME="constructor" ATOM_CONSTRUCTOR)

# The entry.
purlin_faulty_atom(entry-hidden "ATOM_ENTRY_VISIBILITY=__attribute__((visibility(\"hidden\")))")
purlin_faulty_atom(entry-newer ATOM_ENTRY=purlin_atom_entry_v2)
purlin_faulty_atom(entry-older ATOM_ENTRY=purlin_atom_entry_v0)
purlin_faulty_atom(entry-other ATOM_ENTRY=purlin_atom_entry_vx)
purlin_faulty_atom(entry-null ATOM_RETURNS=nullptr)
purlin_faulty_atom(entry-throws ATOM_ENTRY_THROWS ATOM_RETURNS=thrown\(\))
purlin_faulty_atom(entry-garbage "ATOM_RETURNS=reinterpret_cast<const purlin_atom_descriptor*>(4096)")
purlin_faulty_atom(unresolved ATOM_UNRESOLVED)

# Versions and sizes.
purlin_faulty_atom(abi-major-newer ATOM_ABI_MAJOR=PURLIN_ATOM_ABI_MAJOR+1)
purlin_faulty_atom(abi-major-older ATOM_ABI_MAJOR=PURLIN_ATOM_ABI_MAJOR-1)
purlin_faulty_atom(abi-minor-newer ATOM_NAME="minor-newer" ATOM_ABI_MINOR=PURLIN_ATOM_ABI_MINOR+1
  ATOM_APPENDED ATOM_CAPABILITIES=0x800fu ATOM_UNDEFINED_MASK=1 ATOM_TABLE_RESERVED=1
  ATOM_LIMITS_RESERVED=1)
purlin_faulty_atom(size-stale ATOM_DESCRIPTOR_SIZE=96)
purlin_faulty_atom(size-huge ATOM_DESCRIPTOR_SIZE=1u<<30)
purlin_faulty_atom(table-stale ATOM_TABLE_SIZE=56)
purlin_faulty_atom(limits-stale ATOM_LIMITS_SIZE=100)

# The descriptor's content.
purlin_faulty_atom(name-bad "ATOM_NAME=\"Not A Name\"")
purlin_faulty_atom(name-null ATOM_NAME=nullptr)
purlin_faulty_atom(version-bad "ATOM_VERSION=\"1.0\"")
purlin_faulty_atom(text-bad "ATOM_VENDOR=\"two\\nlines\"")
purlin_faulty_atom(kind-unknown ATOM_KIND=7)
purlin_faulty_atom(table-hole ATOM_SIGNAL=nullptr)
purlin_faulty_atom(limits-order ATOM_DEFAULT_STAGES=9)
purlin_faulty_atom(limits-sources ATOM_MAX_SOURCES=65)
purlin_faulty_atom(mask-empty ATOM_MASK=0)
purlin_faulty_atom(does-nothing ATOM_CAPABILITIES=0)

# What ABI 1.0 does not define.
purlin_faulty_atom(capability-unknown ATOM_CAPABILITIES=0x800fu)
purlin_faulty_atom(operation-unknown ATOM_MASK=0x5fu)
purlin_faulty_atom(type-unknown ATOM_UNDEFINED_MASK=1)
purlin_faulty_atom(limits-reserved ATOM_LIMITS_RESERVED=1)
purlin_faulty_atom(table-reserved ATOM_TABLE_RESERVED=1)

# Probes.
purlin_faulty_atom(probe-refuses ATOM_NAME="rain" ATOM_PROBE_REFUSES ATOM_PROBE=refuses)
purlin_faulty_atom(probe-endless ATOM_NAME="endless" ATOM_PROBE_NEVER_ENDS_ITS_TEXT ATOM_PROBE=no_end)
purlin_faulty_atom(probe-throws ATOM_NAME="thrower" ATOM_PROBE_THROWS ATOM_PROBE=throws)

# Sound ones that differ, for the order.
purlin_faulty_atom(copier ATOM_NAME="copier" ATOM_PRIORITY=9
  ATOM_CAPABILITIES=PURLIN_CAP_COPY|PURLIN_CAP_PACKETS|PURLIN_CAP_SIGNALS)
purlin_faulty_atom(eager ATOM_NAME="eager" ATOM_PRIORITY=5)
purlin_faulty_atom(sound-newer "ATOM_VERSION=\"1.10.0\"")
purlin_faulty_atom(few-sources ATOM_NAME="few" ATOM_PRIORITY=7 ATOM_MAX_SOURCES=4)
set(cuda ATOM_KIND=PURLIN_ATOM_CUDA)
purlin_faulty_atom(sm75 ${cuda} ATOM_NAME="old" ATOM_ARCHITECTURE=75 ATOM_PRIORITY=50)
purlin_faulty_atom(sm90 ${cuda} ATOM_NAME="middle" ATOM_ARCHITECTURE=90)
purlin_faulty_atom(sm100a ${cuda} ATOM_NAME="new" ATOM_ARCHITECTURE=100 ATOM_IMAGE_SPECIFIC='a')
purlin_faulty_atom(device-abi-newer ${cuda} ATOM_ARCHITECTURE=75
  ATOM_DEVICE_ABI=PURLIN_ATOM_DEVICE_ABI+1)
purlin_faulty_atom(device-abi-older ${cuda} ATOM_ARCHITECTURE=75
  ATOM_DEVICE_ABI=PURLIN_ATOM_DEVICE_ABI-1)

purlin_faulty_atom(image-reserved ${cuda} ATOM_ARCHITECTURE=75 ATOM_IMAGE_RESERVED=1)

# The second host Atom, alone in a folder, for every test that mixes Atoms:
# PURLIN_PLUGIN_PATH=build/PRESET/tests/plugins/testhost.
purlin_add_atom(NAME testhost OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/plugins/testhost
  HOST_SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/runtime/plugin/testhost/atom.cc)
add_dependencies(${name} atom-testhost atom-host)
target_compile_definitions(${name} PRIVATE
  PURLIN_TESTHOST_FOLDER="${PROJECT_BINARY_DIR}/tests/plugins/testhost"
  PURLIN_PRODUCT_FOLDER="${PURLIN_PLUGIN_OUTPUT_DIRECTORY}")
