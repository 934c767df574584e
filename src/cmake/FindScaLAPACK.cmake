# ScaLAPACK::ScaLAPACK: ScaLAPACK with its BLACS, LAPACK and a BLAS that suits the CPU.
# Not Debian's own scalapack-config.cmake: it names a target file that the package does not hold, and stops the configure even with QUIET.
#
# POSGEOM_BLAS: the BLAS that comes first in the link line serves the whole process, ScaLAPACK and LAPACK included. OpenBLAS 0.3.21 takes
# CPUs newer than itself for the oldest ones (3-6 times slower); BLIS asks the CPU what it can do, so `auto` puts BLIS first where it is.
include(FindPackageHandleStandardArgs)
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_search_module(PC_SCALAPACK QUIET scalapack-openmpi scalapack)
endif()
find_library(ScaLAPACK_LIBRARY NAMES scalapack-openmpi scalapack scalapack-mpich HINTS ${PC_SCALAPACK_LIBRARY_DIRS} ENV SCALAPACK_ROOT PATH_SUFFIXES lib lib64)
if(NOT POSGEOM_BLAS STREQUAL system)
  # With threads where there is a choice: at one thread they cost nothing, and one rank alone can use all cores.
  find_library(BLIS_LIBRARY NAMES blis HINTS ENV BLIS_ROOT PATH_SUFFIXES lib lib64 blis-pthread blis-openmp blis-serial)
  if(POSGEOM_BLAS STREQUAL blis AND NOT BLIS_LIBRARY)
    message(FATAL_ERROR "POSGEOM_BLAS=blis, but no libblis was found (Debian: libblis-pthread-dev; else set BLIS_ROOT)")
  endif()
endif()
find_package(LAPACK REQUIRED)
find_package_handle_standard_args(ScaLAPACK REQUIRED_VARS ScaLAPACK_LIBRARY
  REASON_FAILURE_MESSAGE "Debian: libscalapack-openmpi-dev, modules: netlib-scalapack, or set SCALAPACK_ROOT")
mark_as_advanced(ScaLAPACK_LIBRARY BLIS_LIBRARY)
if(ScaLAPACK_FOUND AND NOT TARGET ScaLAPACK::ScaLAPACK)
  add_library(ScaLAPACK::ScaLAPACK INTERFACE IMPORTED)
  if(BLIS_LIBRARY)
    # Kept even if no object of ours needs it yet: the order decides who serves ScaLAPACK.
    target_link_libraries(ScaLAPACK::ScaLAPACK INTERFACE "-Wl,--no-as-needed" ${BLIS_LIBRARY} "-Wl,--as-needed")
  endif()
  target_link_libraries(ScaLAPACK::ScaLAPACK INTERFACE ${ScaLAPACK_LIBRARY} LAPACK::LAPACK)
endif()
