# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What the programs take of LLVM and clang:
#
#   rcache-llvm-parse    a front end: rcache-rewrite, rcache-lsp, the library
#   rcache-llvm-run      a front end, an optimiser, code for this machine: rcache-check
#   rcache-llvm-support  strings, files, options: rcache-fuzz
#
# Everyday builds link the two shared libraries, which is quick and takes 210 MiB and
# what these need in turn (z3, libxml2, ICU). With RCACHE_STATIC=ON each program holds
# what it uses, isl included, and needs nothing but the C and C++ runtime; packages are
# made that way. Never both in one program: a static clang library beside the shared one
# would register its command-line options a second time and abort at start-up.
option(RCACHE_STATIC "Link LLVM, clang, isl and Boost into the programs" OFF)

foreach(Part IN ITEMS parse run support)
  add_library(rcache-llvm-${Part} INTERFACE)
endforeach()

if(NOT RCACHE_STATIC)
  foreach(Part IN ITEMS parse run)
    target_link_libraries(rcache-llvm-${Part} INTERFACE clang-cpp LLVM)
  endforeach()
  target_link_libraries(rcache-llvm-support INTERFACE LLVM)
  return()
endif()

# Distributions that ship the shared libraries let the static clang ones name
# LLVM's; they are given its parts in its place.
set(FrontEnd
  LLVMFrontendOpenMP LLVMFrontendHLSL LLVMFrontendOffloading LLVMFrontendDriver
  LLVMFrontendAtomic LLVMProfileData LLVMWindowsDriver LLVMOption LLVMMCParser LLVMMC LLVMAsmParser
  LLVMBitReader LLVMBitWriter LLVMIRReader LLVMAnalysis LLVMScalarOpts LLVMTransformUtils
  LLVMObject LLVMCore LLVMBinaryFormat LLVMRemarks LLVMBitstreamReader LLVMTargetParser
  LLVMCAS LLVMSupportLSP LLVMSupport)
set(CodeGenerator
  LLVMX86AsmParser LLVMX86CodeGen LLVMX86Desc LLVMX86Info
  LLVMNVPTXCodeGen LLVMNVPTXDesc LLVMNVPTXInfo
  LLVMOrcJIT LLVMPasses LLVMCoverage LLVMLTO LLVMExtensions LLVMLinker LLVMipo LLVMTarget)
foreach(Library IN LISTS CLANG_EXPORTED_TARGETS)
  if(NOT TARGET ${Library})
    continue()
  endif()
  get_target_property(Kind ${Library} TYPE)
  get_target_property(Needs ${Library} INTERFACE_LINK_LIBRARIES)
  if(Kind STREQUAL "STATIC_LIBRARY" AND "LLVM" IN_LIST Needs)
    list(REMOVE_ITEM Needs LLVM)
    list(APPEND Needs ${FrontEnd})
    if(Library STREQUAL "clangCodeGen")
      list(APPEND Needs ${CodeGenerator})
    endif()
    set_target_properties(${Library} PROPERTIES INTERFACE_LINK_LIBRARIES "${Needs}")
  endif()
endforeach()

# z3 serves clang's static analyser, of which nothing is taken.
find_library(RCACHE_STATIC_ZLIB libz.a REQUIRED)
find_library(RCACHE_STATIC_ZSTD libzstd.a REQUIRED)
mark_as_advanced(RCACHE_STATIC_ZLIB RCACHE_STATIC_ZSTD)
set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES
  "rt;dl;m;${RCACHE_STATIC_ZLIB};${RCACHE_STATIC_ZSTD};LLVMDemangle")
# Nor of Polly (check/lib/WithoutPolly.cpp).
set_target_properties(LLVMExtensions PROPERTIES INTERFACE_LINK_LIBRARIES "LLVMSupport")

target_link_libraries(rcache-llvm-parse INTERFACE
  clangFormat clangTooling clangFrontend clangDriver clangOptions clangParse clangSerialization clangSema
  clangAnalysis clangAST clangEdit clangLex clangBasic)
target_link_libraries(rcache-llvm-run INTERFACE
  clangCodeGen clangFrontend clangDriver clangOptions clangBasic ${CodeGenerator})
target_link_libraries(rcache-llvm-support INTERFACE LLVMSupport)
foreach(Part IN ITEMS parse run support)
  target_link_options(rcache-llvm-${Part} INTERFACE -Wl,--gc-sections)
endforeach()
