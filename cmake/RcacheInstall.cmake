# What `cmake --install` puts where, and the package that find_package(rcache)
# finds, installed or in the build tree (rcache_DIR=<build>).
include(CMakePackageConfigHelpers)

set(RCACHE_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/rcache")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/rcacheConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)

# The build tree.
set(RCACHE_INCLUDE_DIR "${PROJECT_SOURCE_DIR}/include")
set(RCACHE_BIN_DIR "${PROJECT_BINARY_DIR}/bin")
set(RCACHE_MODULE_DIR "${PROJECT_SOURCE_DIR}/cmake")
configure_package_config_file(cmake/rcacheConfig.cmake.in
  "${PROJECT_BINARY_DIR}/rcacheConfig.cmake"
  INSTALL_DESTINATION "${PROJECT_BINARY_DIR}"
  INSTALL_PREFIX "${PROJECT_BINARY_DIR}"
  PATH_VARS RCACHE_INCLUDE_DIR RCACHE_BIN_DIR RCACHE_MODULE_DIR)

# The installed tree. Only the device header is for users.
set(RCACHE_INCLUDE_DIR "${CMAKE_INSTALL_INCLUDEDIR}")
set(RCACHE_BIN_DIR "${CMAKE_INSTALL_BINDIR}")
set(RCACHE_MODULE_DIR "${RCACHE_PACKAGE_DIR}")
configure_package_config_file(cmake/rcacheConfig.cmake.in
  "${PROJECT_BINARY_DIR}/install/rcacheConfig.cmake"
  INSTALL_DESTINATION "${RCACHE_PACKAGE_DIR}"
  PATH_VARS RCACHE_INCLUDE_DIR RCACHE_BIN_DIR RCACHE_MODULE_DIR)
install(FILES "${PROJECT_BINARY_DIR}/install/rcacheConfig.cmake"
              "${PROJECT_BINARY_DIR}/rcacheConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/RcacheRewrite.cmake"
        DESTINATION "${RCACHE_PACKAGE_DIR}")
if(EXISTS "${PROJECT_SOURCE_DIR}/include/rcache/device")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/rcache/device"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/rcache")
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/man/"
        DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" FILES_MATCHING PATTERN "*.1")
# All that the pages link to, so that links work (scripts/check_docs.py).
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/" DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs"
        FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png" PATTERN "*.txt"
        PATTERN "*.schema.json"
        PATTERN "man" EXCLUDE)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples/" DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples"
        FILES_MATCHING PATTERN "*.cu" PATTERN "*.cuh" PATTERN "*.h" PATTERN "*.md" PATTERN "*.sh"
        PATTERN "rewritten" EXCLUDE)
# The checker is a project of its own, which installs nothing by itself.
foreach(Program IN ITEMS rcache-check rcache-fuzz)
  if(TARGET ${Program})
    install(TARGETS ${Program} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  endif()
endforeach()

# Shell completion: words are those that --help prints, whatever version it is.
foreach(Program IN ITEMS rcache-rewrite rcache-lsp rcache-check)
  install(FILES "${PROJECT_SOURCE_DIR}/cmake/completion/rcache.bash"
          DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME ${Program})
endforeach()
install(FILES "${PROJECT_SOURCE_DIR}/cmake/completion/_rcache"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")

include(RcachePackage)
