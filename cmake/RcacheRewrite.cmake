# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# rcache_rewrite(TARGET app [SOURCES a.cu ...] [KERNELS name ...] [OPTIONS opt ...]
#                [REMARKS])
#
# Rewrites CUDA sources of a target before they are compiled, into the binary
# folder, with the target's own include directories, definitions, options, language
# standard and architectures (generator expressions included). The target then
# compiles the results instead of the originals; compiler errors, debuggers and
# profilers show the original files.
#
#   SOURCES   these of the target's sources; default: all its CUDA sources
#   KERNELS   only these kernels
#   OPTIONS   further options of rcache-rewrite
#   REMARKS   print what was rewritten and what was not; without it only errors
#             are printed, and the JSON report lies beside each result
#
# Call it in the folder that makes the target, after the target has its sources.
# A source is rewritten again when it, a header that it includes, the target's
# flags or the tool change. With RCACHE_ENABLE=OFF the originals are compiled.

include_guard(GLOBAL)

option(RCACHE_ENABLE "Rewrite CUDA sources with rcache before compiling them" ON)

function(rcache_rewrite)
  cmake_parse_arguments(PARSE_ARGV 0 Arg "REMARKS" "TARGET" "SOURCES;KERNELS;OPTIONS")
  if(Arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "rcache_rewrite: unknown arguments: ${Arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT TARGET "${Arg_TARGET}")
    message(FATAL_ERROR "rcache_rewrite: TARGET '${Arg_TARGET}' is no target")
  endif()
  if(NOT RCACHE_ENABLE)
    return()
  endif()
  _rcache_check_place("${Arg_TARGET}")
  _rcache_write_flags("${Arg_TARGET}" FlagsFile)

  get_target_property(Sources ${Arg_TARGET} SOURCES)
  set(Wanted)
  foreach(Source IN LISTS Arg_SOURCES)
    get_filename_component(Path "${Source}" ABSOLUTE)
    list(APPEND Wanted "${Path}")
  endforeach()
  set(NewSources)
  set(Count 0)
  foreach(Source IN LISTS Sources)
    _rcache_is_cuda("${Source}" IsCuda)
    get_filename_component(Path "${Source}" ABSOLUTE)
    if(NOT IsCuda OR (Wanted AND NOT Path IN_LIST Wanted))
      list(APPEND NewSources "${Source}")
      continue()
    endif()
    list(REMOVE_ITEM Wanted "${Path}")
    _rcache_add_command("${Arg_TARGET}" "${Path}" "${FlagsFile}" "${Arg_KERNELS}"
                        "${Arg_OPTIONS}" "${Arg_REMARKS}" Output)
    list(APPEND NewSources "${Output}")
    math(EXPR Count "${Count} + 1")
  endforeach()
  if(Wanted)
    message(FATAL_ERROR
      "rcache_rewrite: not among the CUDA sources of '${Arg_TARGET}': ${Wanted}")
  endif()
  if(Count EQUAL 0)
    message(WARNING "rcache_rewrite: '${Arg_TARGET}' has no CUDA source")
  endif()
  set_property(TARGET ${Arg_TARGET} PROPERTY SOURCES "${NewSources}")
  if("--runtime=include" IN_LIST Arg_OPTIONS)
    target_link_libraries(${Arg_TARGET} PRIVATE rcache::device)
  endif()
endfunction()

# Errors that are better told here than by a build that fails.
function(_rcache_check_place Target)
  get_property(Languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "CUDA" IN_LIST Languages)
    message(FATAL_ERROR
      "rcache_rewrite: the project does not use CUDA; call enable_language(CUDA) "
      "or name CUDA in project(), and have a CUDA toolkit installed")
  endif()
  if(NOT EXISTS "${rcache_REWRITE_EXECUTABLE}")
    message(FATAL_ERROR
      "rcache_rewrite: the program '${rcache_REWRITE_EXECUTABLE}' is missing")
  endif()
  get_target_property(Folder ${Target} SOURCE_DIR)
  if(NOT Folder STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    message(FATAL_ERROR
      "rcache_rewrite: call it in ${Folder}, where '${Target}' is made")
  endif()
endfunction()

# By the LANGUAGE property, else by the name.
function(_rcache_is_cuda Source Result)
  set(${Result} FALSE PARENT_SCOPE)
  if(Source MATCHES "\\$<")
    return()
  endif()
  get_source_file_property(Language "${Source}" LANGUAGE)
  if(Language STREQUAL "CUDA" OR (NOT Language AND Source MATCHES "\\.cu$"))
    set(${Result} TRUE PARENT_SCOPE)
  endif()
endfunction()

# Text that may stand in a generator expression.
function(_rcache_escape Text Result)
  string(REPLACE ">" "$<ANGLE-R>" Text "${Text}")
  string(REPLACE "," "$<COMMA>" Text "${Text}")
  set(${Result} "${Text}" PARENT_SCOPE)
endfunction()

# Writes the target's flags to a file a configuration, one a line, and returns its
# name. file(GENERATE) evaluates for each language, which makes expressions that
# ask for the language work; the CUDA one is used. The file changes, and with it
# the results, only when the flags do.
function(_rcache_write_flags Target Result)
  set(Lines)
  separate_arguments(Words NATIVE_COMMAND "${CMAKE_CUDA_FLAGS}")
  foreach(Word IN LISTS Words)
    _rcache_escape("${Word}" Word)
    string(APPEND Lines "${Word}\n")
  endforeach()
  foreach(Config IN LISTS CMAKE_CONFIGURATION_TYPES CMAKE_BUILD_TYPE)
    string(TOUPPER "${Config}" Upper)
    separate_arguments(Words NATIVE_COMMAND "${CMAKE_CUDA_FLAGS_${Upper}}")
    foreach(Word IN LISTS Words)
      _rcache_escape("${Word}" Word)
      string(APPEND Lines "$<$<CONFIG:${Config}>:${Word}\n>")
    endforeach()
  endforeach()

  set(Definitions "$<TARGET_PROPERTY:${Target},COMPILE_DEFINITIONS>")
  set(Includes "$<TARGET_PROPERTY:${Target},INCLUDE_DIRECTORIES>")
  set(Options "$<TARGET_PROPERTY:${Target},COMPILE_OPTIONS>")
  set(Archs "$<TARGET_PROPERTY:${Target},CUDA_ARCHITECTURES>")
  set(Standard "$<TARGET_PROPERTY:${Target},CUDA_STANDARD>")
  set(Features "$<TARGET_PROPERTY:${Target},COMPILE_FEATURES>")
  set(Separable "$<BOOL:$<TARGET_PROPERTY:${Target},CUDA_SEPARABLE_COMPILATION>>")
  string(APPEND Lines
    "$<$<BOOL:${Definitions}>:-D$<JOIN:${Definitions},\n-D>\n>"
    "$<$<BOOL:${Includes}>:-I$<JOIN:${Includes},\n-I>\n>"
    "$<$<BOOL:${Archs}>:--generate-code=arch=$<JOIN:${Archs},\n--generate-code=arch=>\n>")
  foreach(Year IN ITEMS 11 14 17 20 23)
    string(APPEND Lines
      "$<$<IN_LIST:cuda_std_${Year},${Features}>:-std=c++${Year}\n>")
  endforeach()
  string(APPEND Lines
    "$<$<BOOL:${Standard}>:-std=c++${Standard}\n>"
    "$<${Separable}:-rdc=true\n>"
    "$<$<BOOL:${Options}>:$<JOIN:${Options},\n>\n>")

  set(Folder "${CMAKE_CURRENT_BINARY_DIR}/rcache/${Target}")
  file(GENERATE OUTPUT "${Folder}/flags-$<CONFIG>-$<COMPILE_LANGUAGE>.txt"
       CONTENT "${Lines}" TARGET ${Target})
  set(${Result} "${Folder}/flags-$<CONFIG>-CUDA.txt" PARENT_SCOPE)
endfunction()

# Adds the command for one source; returns the name of its result.
function(_rcache_add_command Target Source FlagsFile Kernels Options Remarks Result)
  # One result a target, source and configuration.
  set(Name "${Source}")
  cmake_path(IS_PREFIX CMAKE_CURRENT_SOURCE_DIR "${Source}" NORMALIZE IsInside)
  if(IsInside)
    file(RELATIVE_PATH Name "${CMAKE_CURRENT_SOURCE_DIR}" "${Source}")
  else()
    string(REGEX REPLACE "[^A-Za-z0-9_./-]" "_" Name "outside/${Source}")
  endif()
  set(Folder "${CMAKE_CURRENT_BINARY_DIR}/rcache/${Target}")
  get_property(IsMultiConfig GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(IsMultiConfig)
    set(Output "${Folder}/$<CONFIG>/${Name}")
    set(Paths)
    foreach(Config IN LISTS CMAKE_CONFIGURATION_TYPES)
      list(APPEND Paths "${Folder}/${Config}/${Name}")
    endforeach()
  else()
    set(Output "${Folder}/${Name}")
    set(Paths "${Output}")
  endif()
  if(NOT Name MATCHES "\\.cu$")
    string(APPEND Output ".cu")
    list(TRANSFORM Paths APPEND ".cu")
  endif()

  string(REGEX REPLACE "/[^/]*$" "" OutputFolder "${Output}")
  set(Command rcache::rewrite "${Source}" -o "${Output}"
      "--depfile=${Output}.d" "--report=${Output}.json" --line-directives
      "--flags-file=${FlagsFile}")
  if(CMAKE_CUDA_COMPILER_TOOLKIT_ROOT)
    list(APPEND Command "--cuda-path=${CMAKE_CUDA_COMPILER_TOOLKIT_ROOT}")
  endif()
  if(NOT Remarks)
    list(APPEND Command --quiet)
  endif()
  foreach(Kernel IN LISTS Kernels)
    list(APPEND Command "--kernel=${Kernel}")
  endforeach()
  _rcache_source_flags("${Source}" SourceFlags)
  list(APPEND Command ${SourceFlags} ${Options})

  file(RELATIVE_PATH Shown "${CMAKE_SOURCE_DIR}" "${Source}")
  add_custom_command(OUTPUT "${Output}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${OutputFolder}"
    COMMAND ${Command}
    DEPENDS "${Source}" "${FlagsFile}" "${rcache_REWRITE_EXECUTABLE}"
    DEPFILE "${Output}.d"
    WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
    COMMENT "Rewriting CUDA source ${Shown}"
    COMMAND_EXPAND_LISTS
    VERBATIM)

  # The result is compiled as the source was; headers beside the source are found.
  foreach(Path IN LISTS Paths)
    _rcache_copy_properties("${Source}" "${Path}")
  endforeach()
  set(${Result} "${Output}" PARENT_SCOPE)
endfunction()

# Flags that belong to the source file alone.
function(_rcache_source_flags Source Result)
  set(Flags)
  get_source_file_property(Values "${Source}" COMPILE_DEFINITIONS)
  if(Values)
    list(TRANSFORM Values PREPEND "--extra-arg=-D")
    list(APPEND Flags ${Values})
  endif()
  get_source_file_property(Values "${Source}" INCLUDE_DIRECTORIES)
  if(Values)
    list(TRANSFORM Values PREPEND "--extra-arg=-I")
    list(APPEND Flags ${Values})
  endif()
  get_source_file_property(Values "${Source}" COMPILE_OPTIONS)
  if(Values)
    list(TRANSFORM Values PREPEND "--extra-arg=")
    list(APPEND Flags ${Values})
  endif()
  get_source_file_property(Values "${Source}" COMPILE_FLAGS)
  if(Values)
    separate_arguments(Values NATIVE_COMMAND "${Values}")
    list(TRANSFORM Values PREPEND "--extra-arg=")
    list(APPEND Flags ${Values})
  endif()
  set(${Result} "${Flags}" PARENT_SCOPE)
endfunction()

function(_rcache_copy_properties From To)
  get_filename_component(Beside "${From}" DIRECTORY)
  set(Includes "${Beside}")
  get_source_file_property(Values "${From}" INCLUDE_DIRECTORIES)
  if(Values)
    list(APPEND Includes ${Values})
  endif()
  set_source_files_properties("${To}" PROPERTIES
    LANGUAGE CUDA INCLUDE_DIRECTORIES "${Includes}")
  foreach(Property IN ITEMS COMPILE_DEFINITIONS COMPILE_OPTIONS COMPILE_FLAGS
                            OBJECT_DEPENDS SKIP_UNITY_BUILD_INCLUSION)
    get_source_file_property(Values "${From}" ${Property})
    if(Values)
      set_source_files_properties("${To}" PROPERTIES ${Property} "${Values}")
    endif()
  endforeach()
endfunction()
