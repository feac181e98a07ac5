include(${CMAKE_CURRENT_SOURCE_DIR}/gpu/fake_driver.cmake)
purlin_use_fake_driver(${name})
