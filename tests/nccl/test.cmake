add_dependencies(${name} purlin_nccl atom-host)
target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(${name} PRIVATE ${CMAKE_DL_LIBS})
