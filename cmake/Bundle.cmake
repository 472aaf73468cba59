# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# At install time: copies the shared libraries that Programs need, and those that
# these need, to BundleFolder below the prefix; RcachePackage.cmake says why.
file(GET_RUNTIME_DEPENDENCIES
  EXECUTABLES ${Programs}
  RESOLVED_DEPENDENCIES_VAR Resolved
  UNRESOLVED_DEPENDENCIES_VAR Unresolved
  # Of the system: the loader, libc and its parts, the compiler's runtime.
  PRE_EXCLUDE_REGEXES "^ld-linux" "^linux-vdso"
    "^lib(c|m|dl|rt|pthread|resolv|util|anl|nsl|gcc_s|stdc\\+\\+)\\.so")
if(Unresolved)
  message(FATAL_ERROR "no library for: ${Unresolved}")
endif()
set(Folder "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${BundleFolder}")
file(MAKE_DIRECTORY "${Folder}")
foreach(Library IN LISTS Resolved)
  # By the name under which it is looked for, in place of a chain of links.
  get_filename_component(Name "${Library}" NAME)
  file(REAL_PATH "${Library}" Real)
  message(STATUS "Bundling: ${Name}")
  file(COPY_FILE "${Real}" "${Folder}/${Name}")
  file(CHMOD "${Folder}/${Name}" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  # A library with a path of its own would not look beside itself.
  file(READ_ELF "${Folder}/${Name}" RPATH Rpath RUNPATH Runpath)
  if(Rpath OR Runpath)
    file(RPATH_SET FILE "${Folder}/${Name}" NEW_RPATH "$ORIGIN")
  endif()
endforeach()
