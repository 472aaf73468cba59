# Picks up the helpers that make builds quick when they are installed: ccache in
# front of the compiler, lld as the linker.
find_program(RCACHE_CCACHE ccache)
if(RCACHE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # (What precompiled headers ask of it.)
  set(Launcher "${CMAKE_COMMAND}" -E env
    "CCACHE_SLOPPINESS=pch_defines,time_macros" "${RCACHE_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${Launcher}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${Launcher}")
endif()

include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=lld RCACHE_HAVE_LLD)
if(RCACHE_HAVE_LLD)
  add_link_options(-fuse-ld=lld)
endif()

if(RCACHE_SANITIZE)
  # The vptr check needs the type information of libclang-cpp, which is built
  # with other flags.
  add_compile_options(-fsanitize=${RCACHE_SANITIZE} -fno-sanitize=vptr,function
                      -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${RCACHE_SANITIZE})
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()
