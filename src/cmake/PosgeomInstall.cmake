# install(): the program, the libraries and headers, and a package that find_package(posgeom) reads (tests/consumer uses it).
include(CMakePackageConfigHelpers)
get_property(rooms GLOBAL PROPERTY POSGEOM_ROOMS)
install(TARGETS ${rooms} EXPORT posgeomTargets FILE_SET HEADERS)
install(TARGETS posgeom_cli)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/posgeom)
install(EXPORT posgeomTargets NAMESPACE posgeom:: DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/posgeomConfig.cmake.in ${PROJECT_BINARY_DIR}/posgeomConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/posgeomConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/posgeomConfig.cmake ${PROJECT_BINARY_DIR}/posgeomConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/PosgeomDependencies.cmake ${CMAKE_CURRENT_LIST_DIR}/FindScaLAPACK.cmake DESTINATION ${package_dir})
