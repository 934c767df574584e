# cmake -DBUILD_DIR=... -DSCRATCH_DIR=... -DCONSUMER_DIR=... -P consume.cmake: install, configure, build and run project/.
function(step what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    string(REPLACE "\n" "\n  " output "  ${output}")  # indented: as it is
    message(FATAL_ERROR "${what} failed (${status}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
  message(STATUS "${what}: done")
endfunction()

file(REMOVE_RECURSE ${SCRATCH_DIR})
set(prefix ${SCRATCH_DIR}/prefix)
step("installing" ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})
step("configuring the consumer" ${CMAKE_COMMAND} -S ${CONSUMER_DIR} -B ${SCRATCH_DIR}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${prefix}
  -DCMAKE_CXX_COMPILER=${CXX_COMPILER} -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_BUILD_TYPE=Release -DPOSGEOM_WANTED=${VERSION})
file(STRINGS ${SCRATCH_DIR}/build/CMakeCache.txt found REGEX "^posgeom_DIR:")
if(NOT found MATCHES "=${prefix}/")
  message(FATAL_ERROR "the consumer found another posgeom: ${found}")
endif()
step("building the consumer" ${CMAKE_COMMAND} --build ${SCRATCH_DIR}/build)
step("running the consumer" ${SCRATCH_DIR}/build/consumer)
message(STATUS "it said: ${output}")
if(NOT output MATCHES "posgeom ${VERSION}")
  message(FATAL_ERROR "expected the consumer to print 'posgeom ${VERSION}'")
endif()

# Without C, two of CMake's find modules fail obscurely: the package says it itself.
execute_process(COMMAND ${CMAKE_COMMAND} -S ${CONSUMER_DIR} -B ${SCRATCH_DIR}/build-cxx -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${prefix}
  -DCMAKE_CXX_COMPILER=${CXX_COMPILER} -DLANGUAGES=CXX RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
string(REGEX REPLACE "[ \n]+" " " output "${output}")
if(status EQUAL 0 OR NOT output MATCHES "LANGUAGES C CXX")
  message(FATAL_ERROR "expected a configure with CXX alone to name the languages, found (${status}):\n${output}")
endif()
