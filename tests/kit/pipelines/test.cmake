# The kit's device headers as host code: the twins in emulated/ come before the SDK's.
target_include_directories(${name} BEFORE PRIVATE ${folder}/emulated)
target_compile_definitions(${name} PRIVATE __device__= __forceinline__=inline)
target_compile_options(${name} PRIVATE -Wno-unknown-pragmas)
