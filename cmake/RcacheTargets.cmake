# The functions by which the project's folders declare their targets.
#
#   rcache_add_library(<name> SOURCES a.cpp ... [LINKS target ...])
#       One static library. LINKS may name libraries of folders that are not
#       there (yet); LLVM, clang and isl come with every library as SYSTEM
#       includes.
#   rcache_add_tool(<name> SOURCES a.cpp ... [LINKS target ...])
#       A program in <build>/bin, installed with the tree.
#       Isl::isl stands first on the link line: libLLVM exports a copy of isl of
#       another version (Polly's), and all calls must end in one of the two.
#   rcache_add_unittest(<name> SOURCES a.cpp ... [LINKS target ...])
#       A GoogleTest program in <build>/unittests, run by ctest and by the
#       target check-rcache.

# Everything that all our code is compiled with.
function(rcache_common_options Target)
  target_include_directories(${Target}
    PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
    PRIVATE "${PROJECT_SOURCE_DIR}/lib" "${PROJECT_BINARY_DIR}/include")
  target_include_directories(${Target} SYSTEM PRIVATE
    ${LLVM_INCLUDE_DIRS} ${CLANG_INCLUDE_DIRS} ${Isl_INCLUDE_DIRS})
  # Deprecated: std::stable_sort of libstdc++ 12 uses what it deprecates itself.
  target_compile_options(${Target} PRIVATE -Wall -Wextra -Wno-unused-parameter
                         -Wno-deprecated-declarations)
  if(RCACHE_WERROR)
    target_compile_options(${Target} PRIVATE -Werror)
  endif()
  # A part of another project runs in that project's build, whatever it builds.
  if(NOT PROJECT_IS_TOP_LEVEL)
    target_compile_options(${Target} PRIVATE -O2)
  endif()
  if(RCACHE_PRECOMPILE AND NOT Target STREQUAL "rcache-precompiled")
    rcache_precompile()
    # Programs too: headers that are parsed for libraries serve nobody else.
    target_compile_options(${Target} PRIVATE -fPIC)
    target_precompile_headers(${Target} REUSE_FROM rcache-precompiled)
  endif()
  rcache_sources_at_once(${Target})
endfunction()

# Half of what is left for a source is to read declarations of those headers anew.
function(rcache_sources_at_once Target)
  if(RCACHE_SOURCES_AT_ONCE GREATER 1)
    set_target_properties(${Target} PROPERTIES
      UNITY_BUILD ON
      UNITY_BUILD_BATCH_SIZE ${RCACHE_SOURCES_AT_ONCE})
  endif()
endfunction()

# Half of what a source costs is LLVM's and clang's headers: they are parsed once.
# Without the time stamp in it, ccache knows the result again.
function(rcache_precompile)
  if(TARGET rcache-precompiled)
    return()
  endif()
  set(Source "${PROJECT_BINARY_DIR}/Precompiled.cpp")
  file(CONFIGURE OUTPUT "${Source}" CONTENT "// Nothing but the headers.\n" @ONLY)
  add_library(rcache-precompiled OBJECT "${Source}")
  rcache_common_options(rcache-precompiled)
  target_compile_options(rcache-precompiled PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  target_precompile_headers(rcache-precompiled PRIVATE
    "${PROJECT_SOURCE_DIR}/cmake/precompiled/Headers.h")
endfunction()

# Links against those of the named targets that exist when generating.
function(rcache_link Target Scope)
  foreach(Link IN LISTS ARGN)
    if(Link MATCHES "^rcache")
      target_link_libraries(${Target} ${Scope} "$<TARGET_NAME_IF_EXISTS:${Link}>")
    else()
      target_link_libraries(${Target} ${Scope} ${Link})
    endif()
  endforeach()
endfunction()

# With RCACHE_SKIP_MISSING, a listed file that is not there yet is left out with
# a message: layers can be worked on side by side. The ci preset is strict.
function(rcache_existing_sources Out)
  set(Found)
  foreach(Source IN LISTS ARGN)
    if(NOT RCACHE_SKIP_MISSING
       OR EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${Source}" OR IS_ABSOLUTE "${Source}")
      list(APPEND Found "${Source}")
    else()
      message(STATUS "left out, not there: ${CMAKE_CURRENT_SOURCE_DIR}/${Source}")
    endif()
  endforeach()
  set(${Out} "${Found}" PARENT_SCOPE)
endfunction()

function(rcache_add_library Target)
  cmake_parse_arguments(Arg "" "" "SOURCES;LINKS" ${ARGN})
  rcache_existing_sources(Arg_SOURCES ${Arg_SOURCES})
  if(NOT Arg_SOURCES)
    return()
  endif()
  add_library(${Target} STATIC ${Arg_SOURCES})
  rcache_common_options(${Target})
  rcache_link(${Target} PUBLIC ${Arg_LINKS})
  target_link_libraries(${Target} PUBLIC rcache-llvm-parse)
endfunction()

function(rcache_add_tool Target)
  cmake_parse_arguments(Arg "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${Target} ${Arg_SOURCES})
  rcache_common_options(${Target})
  target_link_libraries(${Target} PRIVATE Isl::isl)
  rcache_link(${Target} PRIVATE ${Arg_LINKS})
  target_link_libraries(${Target} PRIVATE rcache-llvm-parse)
  if(RCACHE_INSTALL)
    install(TARGETS ${Target} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
            COMPONENT tools)
  endif()
endfunction()

function(rcache_add_unittest Target)
  cmake_parse_arguments(Arg "" "" "SOURCES;LINKS" ${ARGN})
  rcache_existing_sources(Arg_SOURCES ${Arg_SOURCES})
  if(NOT Arg_SOURCES)
    return()
  endif()
  add_executable(${Target} EXCLUDE_FROM_ALL ${Arg_SOURCES})
  rcache_common_options(${Target})
  target_include_directories(${Target} PRIVATE "${PROJECT_SOURCE_DIR}/unittests")
  set_target_properties(${Target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/unittests")
  target_link_libraries(${Target} PRIVATE Isl::isl)
  rcache_link(${Target} PRIVATE ${Arg_LINKS})
  target_link_libraries(${Target} PRIVATE rcache-llvm-parse GTest::gtest GTest::gtest_main)
  add_test(NAME ${Target} COMMAND ${Target})
  set_property(GLOBAL APPEND PROPERTY RCACHE_UNITTESTS ${Target})
endfunction()
