# The environment of every test: as root, oversubscribed, unbound, one BLAS thread a rank.
set(POSGEOM_TEST_ENVIRONMENT
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
  OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_orte_execute_quiet=1 OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1)
if(POSGEOM_SANITIZE)
  # Leaks are looked for by tests/support/mpi_main.cpp, before MPI ends.
  list(APPEND POSGEOM_TEST_ENVIRONMENT ASAN_OPTIONS=fast_unwind_on_malloc=0
    "LSAN_OPTIONS=suppressions=${CMAKE_CURRENT_LIST_DIR}/support/lsan.supp:print_suppressions=0:leak_check_at_exit=0" UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1)
endif()

# add_mpi_test(NAME SOURCES ... LINKS ... RANKS 1 2 3 4 6 [TIMEOUT 120] [UNSANITIZED]): one executable, one ctest entry a rank count;
# UNSANITIZED: one that repeats much and touches little memory that others do not, so that the sanitizers leave it out.
function(add_mpi_test name)
  cmake_parse_arguments(TEST "UNSANITIZED" "TIMEOUT" "SOURCES;LINKS;RANKS" ${ARGN})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 120)
  endif()
  if(POSGEOM_SANITIZE)
    math(EXPR TEST_TIMEOUT "${TEST_TIMEOUT} * 5")
  endif()
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE posgeom_test_support ${TEST_LINKS})
  posgeom_compile_options(${name})
  # The sanitizers watch one rank count: three, whose shares are uneven, where the test runs on them.
  list(GET TEST_RANKS 0 sanitized)
  foreach(ranks 2 3)
    if(ranks IN_LIST TEST_RANKS)
      set(sanitized ${ranks})
    endif()
  endforeach()
  foreach(ranks ${TEST_RANKS})
    add_test(NAME ${name}.${ranks} COMMAND ${MPIEXEC_EXECUTABLE} -np ${ranks} $<TARGET_FILE:${name}>)
    set(processors ${ranks})
    if(ranks GREATER 2)
      set(processors 2)  # more ranks than the smallest machine has cores: nothing else beside them
    endif()
    set_tests_properties(${name}.${ranks} PROPERTIES TIMEOUT ${TEST_TIMEOUT} PROCESSORS ${processors}
      ENVIRONMENT "${POSGEOM_TEST_ENVIRONMENT}" LABELS unit)
    if(ranks EQUAL sanitized AND NOT TEST_UNSANITIZED)
      set_property(TEST ${name}.${ranks} APPEND PROPERTY LABELS sanitized)
    endif()
  endforeach()
endfunction()
