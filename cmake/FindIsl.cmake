# Finds the integer set library and its C++ interface <isl/cpp.h>.
# Defines the target Isl::isl, Isl_INCLUDE_DIRS and Isl_VERSION.
#
# LLVM may come with a copy of isl, Polly's: libLLVM exports it, and for RCACHE_STATIC
# (RcacheLlvm.cmake) there is libPollyISL.a. That one keeps small integers in registers,
# where the system's asks GMP for each: plans take some two thirds of the time with it.
# The interface is the system's; what it lacks the linker tells.
option(RCACHE_ISL_OF_LLVM "Take isl from LLVM, where it has one" ON)
find_path(Isl_INCLUDE_DIR isl/cpp.h)
if(RCACHE_STATIC)
  if(RCACHE_ISL_OF_LLVM)
    find_library(Isl_POLLY_LIBRARY libPollyISL.a PATHS "${LLVM_LIBRARY_DIR}" NO_DEFAULT_PATH)
    mark_as_advanced(Isl_POLLY_LIBRARY)
  endif()
  find_library(Isl_LIBRARY libisl.a)
  find_library(Isl_GMP_LIBRARY libgmp.a)
else()
  find_library(Isl_LIBRARY isl)
  find_library(Isl_GMP_LIBRARY gmp)
endif()
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_ISL QUIET isl)
  set(Isl_VERSION "${PC_ISL_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Isl
  REQUIRED_VARS Isl_LIBRARY Isl_INCLUDE_DIR
  VERSION_VAR Isl_VERSION
  REASON_FAILURE_MESSAGE "install libisl-dev (scripts/bootstrap.sh does)")
set(Isl_INCLUDE_DIRS "${Isl_INCLUDE_DIR}")
mark_as_advanced(Isl_INCLUDE_DIR Isl_LIBRARY Isl_GMP_LIBRARY)

set(Isl_OF_LLVM FALSE)
if(RCACHE_ISL_OF_LLVM AND NOT RCACHE_STATIC AND TARGET LLVM)
  include(CheckLibraryExists)
  get_target_property(Isl_LLVM_LIBRARY LLVM LOCATION)
  check_library_exists("${Isl_LLVM_LIBRARY}" isl_multi_union_pw_aff_zero "" Isl_LLVM_EXPORTS)
  set(Isl_OF_LLVM ${Isl_LLVM_EXPORTS})
endif()

if(RCACHE_STATIC AND RCACHE_ISL_OF_LLVM AND Isl_POLLY_LIBRARY)
  set(Isl_OF_LLVM "${Isl_POLLY_LIBRARY}")
endif()

if(Isl_FOUND AND Isl_OF_LLVM AND NOT TARGET Isl::isl)
  add_library(Isl::isl INTERFACE IMPORTED)
  set_target_properties(Isl::isl PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${Isl_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "$<IF:$<BOOL:${RCACHE_STATIC}>,${Isl_POLLY_LIBRARY},LLVM>")
elseif(Isl_FOUND AND NOT TARGET Isl::isl)
  add_library(Isl::isl UNKNOWN IMPORTED)
  set_target_properties(Isl::isl PROPERTIES
    IMPORTED_LOCATION "${Isl_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Isl_INCLUDE_DIR}")
  if(Isl_GMP_LIBRARY)
    set_property(TARGET Isl::isl APPEND PROPERTY
      INTERFACE_LINK_LIBRARIES "${Isl_GMP_LIBRARY}")
  endif()
endif()
