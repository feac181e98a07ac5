# The CMake package that other projects find, the examples that go with it, and .deb files by CPack:
#   cpack --config build/release/CPackConfig.cmake -B build/release/packages
# makes purlin-runtime, purlin-tools and purlin-dev.
include(CMakePackageConfigHelpers)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/purlinConfig.cmake.in
  ${CMAKE_BINARY_DIR}/package/purlinConfig.cmake INSTALL_DESTINATION ${PURLIN_INSTALL_PACKAGE}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR PURLIN_INSTALL_REDUCTIONS NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Before 1.0 a minor version may change an interface.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/purlinConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(EXPORT purlin NAMESPACE purlin:: FILE purlinTargets.cmake DESTINATION ${PURLIN_INSTALL_PACKAGE}
  COMPONENT dev)
set(purlin_modules PurlinAtom.cmake PurlinCuda.cmake PurlinDeviceImage.cmake embed_images.cmake atom.version)
list(TRANSFORM purlin_modules PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
install(FILES ${CMAKE_BINARY_DIR}/package/purlinConfig.cmake ${purlin_modules}
  ${CMAKE_BINARY_DIR}/package/purlinConfigVersion.cmake DESTINATION ${PURLIN_INSTALL_PACKAGE} COMPONENT dev)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME purlin)
set(CPACK_PACKAGE_VENDOR "The Purlin authors")
set(CPACK_PACKAGE_CONTACT "The Purlin authors <purlin@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL runtime tools dev)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "libpurlin, its Atoms and its policies")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "The purlin command")
set(CPACK_COMPONENT_DEV_DESCRIPTION "Headers, CMake package and examples of Purlin")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
foreach(component runtime tools dev)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME purlin-${component})
endforeach()
# What the files of Debian 12 need; a test compares it with what is linked.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "libc6 (>= 2.36), libstdc++6 (>= 12), libgcc-s1, libyaml-cpp0.7")
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "purlin-runtime (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "purlin-runtime (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
include(CPack)
