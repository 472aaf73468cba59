# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Packages that need no LLVM where they are installed: with RCACHE_BUNDLE=ON clang's
# headers are installed to lib/rcache, where the programs look first, and so are the
# shared libraries of the programs, but for those of the C and C++ runtime: none with
# RCACHE_STATIC=ON, else LLVM's, clang's and what these need.
#
#   scripts/package.sh       makes the tarball and the Debian package
#
# The tree may be moved: all paths are relative to the programs.
option(RCACHE_BUNDLE "Install clang's headers, and shared libraries, with the programs"
       ${RCACHE_STATIC})

if(RCACHE_BUNDLE)
  # Where the programs look, whatever CMAKE_INSTALL_LIBDIR is.
  set(BundleFolder "lib/rcache")
  file(RELATIVE_PATH FromPrograms "/${CMAKE_INSTALL_BINDIR}" "/${BundleFolder}")
  set(Built)
  foreach(Program IN ITEMS rcache-rewrite rcache-lsp rcache-check rcache-fuzz)
    if(TARGET ${Program})
      # DT_RPATH holds for what the libraries need, DT_RUNPATH would not.
      if(RCACHE_STATIC)
        set_target_properties(${Program} PROPERTIES INSTALL_RPATH "" INSTALL_RPATH_USE_LINK_PATH OFF)
      else()
        set_target_properties(${Program} PROPERTIES
          INSTALL_RPATH "$ORIGIN/${FromPrograms}" INSTALL_RPATH_USE_LINK_PATH OFF)
        target_link_options(${Program} PRIVATE -Wl,--disable-new-dtags)
      endif()
      list(APPEND Built "$<TARGET_FILE:${Program}>")
    endif()
  endforeach()
  # Those of processors and languages that no CUDA source meets are most of them.
  install(DIRECTORY "${RCACHE_CLANG_RESOURCE_DIR}/include"
          DESTINATION "${BundleFolder}/clang/${LLVM_VERSION_MAJOR}"
          REGEX "/(arm|riscv|hexagon|hvx_|vel|sifive|opencl|wasm|lasx|lsx|s390|htm|msa|altivec|vecintrin|amo\\.|andes)[^/]*$" EXCLUDE
          REGEX "/(ppc_wrappers|openmp_wrappers|zos_wrappers|llvm_libc_wrappers|llvm_offload_wrappers|sanitizer|fuzzer|xray|profile|orc)$" EXCLUDE)
  if(NOT RCACHE_STATIC)
    install(CODE "
      set(Programs ${Built})
      set(BundleFolder \"${BundleFolder}\")
      include(\"${PROJECT_SOURCE_DIR}/cmake/Bundle.cmake\")")
  endif()
endif()

set(CPACK_PACKAGE_NAME rcache)
set(CPACK_PACKAGE_VENDOR "rcache")
set(CPACK_PACKAGE_CONTACT "the rcache project <rcache@invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGE_FILE_NAME "rcache-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR TXZ DEB)
set(CPACK_THREADS 0)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.36), libstdc++6 (>= 12), libgcc-s1 (>= 12)")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++ | libstdc++-dev")
include(CPack)
