# The tests of mixed Atoms bind the second host Atom of the plugin tests.
target_link_libraries(${name} PRIVATE purlin_fmt)
add_dependencies(${name} atom-host atom-testhost)
