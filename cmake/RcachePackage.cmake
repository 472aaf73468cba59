# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Packages that need no LLVM where they are installed: with RCACHE_BUNDLE=ON the
# shared libraries of the programs, but for those of the C and C++ runtime, and
# clang's headers are installed to lib/rcache, and the programs look there.
#
#   scripts/package.sh       makes the tarball and the Debian package
#
# The tree may be moved: all paths are relative to the programs.
option(RCACHE_BUNDLE "Install LLVM's shared libraries and clang's headers with the programs" OFF)

if(RCACHE_BUNDLE)
  set(BundleFolder "${CMAKE_INSTALL_LIBDIR}/rcache")
  # CMAKE_INSTALL_LIBDIR may have several parts (lib/x86_64-linux-gnu).
  file(RELATIVE_PATH FromPrograms "/${CMAKE_INSTALL_BINDIR}" "/${BundleFolder}")
  foreach(Program IN ITEMS rcache-rewrite rcache-lsp rcache-check rcache-fuzz)
    if(TARGET ${Program})
      # DT_RPATH holds for what the libraries need, DT_RUNPATH would not.
      set_target_properties(${Program} PROPERTIES
        INSTALL_RPATH "$ORIGIN/${FromPrograms}" INSTALL_RPATH_USE_LINK_PATH OFF)
      target_link_options(${Program} PRIVATE -Wl,--disable-new-dtags)
      list(APPEND Programs "${CMAKE_INSTALL_BINDIR}/${Program}")
    endif()
  endforeach()
  install(DIRECTORY "${RCACHE_CLANG_RESOURCE_DIR}/include"
          DESTINATION "${BundleFolder}/clang/${LLVM_VERSION_MAJOR}")
  set(Built)
  foreach(Program IN ITEMS rcache-rewrite rcache-lsp rcache-check rcache-fuzz)
    if(TARGET ${Program})
      list(APPEND Built "$<TARGET_FILE:${Program}>")
    endif()
  endforeach()
  install(CODE "
    set(Programs ${Built})
    set(BundleFolder \"${BundleFolder}\")
    include(\"${PROJECT_SOURCE_DIR}/cmake/Bundle.cmake\")")
endif()

set(CPACK_PACKAGE_NAME rcache)
set(CPACK_PACKAGE_VENDOR "rcache")
set(CPACK_PACKAGE_CONTACT "the rcache project <rcache@invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGE_FILE_NAME "rcache-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.36), libstdc++6 (>= 12), libgcc-s1 (>= 12)")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++ | libstdc++-dev")
include(CPack)
