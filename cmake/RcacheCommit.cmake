# The source file of commitName() (lib/Driver/Programs.h), which each program links.
# The commit is looked up at every build; the file changes only with it.
set(RCACHE_COMMIT_FILE "${PROJECT_BINARY_DIR}/Commit.cpp")
get_filename_component(RCACHE_COMMIT_SOURCE "${CMAKE_CURRENT_LIST_DIR}/.." REALPATH)
add_custom_target(rcache-commit BYPRODUCTS "${RCACHE_COMMIT_FILE}"
  COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${RCACHE_COMMIT_SOURCE}" "-DOUTPUT=${RCACHE_COMMIT_FILE}"
          -P "${CMAKE_CURRENT_LIST_DIR}/WriteCommit.cmake"
  COMMENT "" VERBATIM)
