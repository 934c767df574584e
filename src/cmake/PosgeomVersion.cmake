# version.hpp in the build tree: the release and, in a git checkout, the revision that provenance attributes carry.
set(POSGEOM_GIT_REVISION unknown)
find_package(Git QUIET)
if(Git_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${PROJECT_SOURCE_DIR} describe --always --dirty --abbrev=12
    OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(POSGEOM_GIT_REVISION ${revision})
  endif()
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/.git/HEAD)
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/version.cpp.in ${PROJECT_BINARY_DIR}/generated/version.cpp @ONLY)
