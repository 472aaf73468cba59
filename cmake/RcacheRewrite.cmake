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
    file(REMOVE "${CMAKE_BINARY_DIR}/rcache-sources.json")
    return()
  endif()
  get_target_property(Aliased "${Arg_TARGET}" ALIASED_TARGET)
  if(Aliased)
    set(Arg_TARGET "${Aliased}")
  endif()
  _rcache_check_place("${Arg_TARGET}")
  _rcache_write_flags("${Arg_TARGET}" FlagsFile)
  _rcache_order_target("${Arg_TARGET}" OrderTarget)
  # A name that no source has is an error where it is clear which source is meant.
  list(LENGTH Arg_SOURCES NumSources)
  if(NumSources EQUAL 0)
    get_target_property(Sources ${Arg_TARGET} SOURCES)
    foreach(Source IN LISTS Sources)
      _rcache_is_cuda("${Source}" IsCuda)
      if(IsCuda OR Source MATCHES "\\$<") # who knows what that holds
        math(EXPR NumSources "${NumSources} + 1")
      endif()
    endforeach()
  endif()
  if(Arg_KERNELS AND (NOT NumSources EQUAL 1 OR Sources MATCHES "\\$<"))
    list(APPEND Arg_OPTIONS --kernels-elsewhere)
  endif()

  set(Wanted)
  foreach(Source IN LISTS Arg_SOURCES)
    _rcache_location("${Source}" Path)
    list(APPEND Wanted "${Path}")
  endforeach()
  get_target_property(Sources ${Arg_TARGET} SOURCES)
  get_target_property(Done ${Arg_TARGET} RCACHE_RESULTS)
  set(NewSources)
  set(Results)
  set(Missing "${Wanted}")
  foreach(Source IN LISTS Sources)
    # A source by itself, or those that a generator expression holds: the text
    # between its signs. List separators have cut expressions apart already.
    set(Names "${Source}")
    if(Source MATCHES "\\$<|>$")
      string(REGEX MATCHALL "[^$<>:;,]+" Names "${Source}")
    endif()
    foreach(Name IN LISTS Names)
      _rcache_is_cuda("${Name}" IsCuda)
      if(NOT IsCuda)
        continue()
      endif()
      _rcache_location("${Name}" Path)
      if(Name IN_LIST Done OR (Wanted AND NOT Path IN_LIST Wanted))
        continue()
      endif()
      if(NOT Name STREQUAL Source AND NOT EXISTS "${Path}")
        get_source_file_property(IsGenerated "${Path}" GENERATED)
        if(NOT IsGenerated)
          continue() # a regular expression, perhaps
        endif()
      endif()
      list(REMOVE_ITEM Missing "${Path}")
      _rcache_add_command("${Arg_TARGET}" "${Path}" "${FlagsFile}" "${OrderTarget}"
                          "${Arg_KERNELS}" "${Arg_OPTIONS}" "${Arg_REMARKS}" Output Paths)
      if(Name STREQUAL Source)
        set(Source "${Output}")
      else()
        _rcache_replace_source("${Source}" "${Name}" "${Output}" Source)
      endif()
      list(APPEND Results ${Paths})
    endforeach()
    list(APPEND NewSources "${Source}")
  endforeach()
  if(Missing)
    message(FATAL_ERROR
      "rcache_rewrite: not among the CUDA sources of '${Arg_TARGET}': ${Missing}")
  endif()
  if(NOT Results)
    message(WARNING "rcache_rewrite: '${Arg_TARGET}' has no CUDA source to rewrite")
  endif()
  set_property(TARGET ${Arg_TARGET} PROPERTY SOURCES "${NewSources}")
  set_property(TARGET ${Arg_TARGET} APPEND PROPERTY RCACHE_RESULTS ${Results})
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
  # Imported by find_package(rcache), or made by this project.
  get_target_property(IsImported rcache::rewrite IMPORTED)
  if(IsImported)
    get_target_property(Program rcache::rewrite IMPORTED_LOCATION)
    if(NOT EXISTS "${Program}")
      message(FATAL_ERROR "rcache_rewrite: the program '${Program}' is missing")
    endif()
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
  if(Source MATCHES "[$<>]")
    return()
  endif()
  get_source_file_property(Language "${Source}" LANGUAGE)
  if(Language STREQUAL "CUDA" OR (NOT Language AND Source MATCHES "\\.cu$"))
    set(${Result} TRUE PARENT_SCOPE)
  endif()
endfunction()

# Where a source is, as CMake looks for it: in the source folder, or, made by the
# build, in the binary folder.
function(_rcache_location Source Result)
  get_filename_component(Path "${Source}" ABSOLUTE)
  if(NOT EXISTS "${Path}")
    get_source_file_property(IsGenerated "${Source}" GENERATED)
    if(IsGenerated)
      get_filename_component(Path "${Source}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
    endif()
  endif()
  set(${Result} "${Path}" PARENT_SCOPE)
endfunction()

# Source with Output in the place of Name. Name ends where a sign of a generator
# expression, or the text, does.
function(_rcache_replace_source Source Name Output Result)
  string(FIND "${Source}" ":${Name}" At)
  if(At EQUAL -1)
    set(At 0) # behind a list separator
  else()
    math(EXPR At "${At} + 1")
  endif()
  string(LENGTH "${Name}" Length)
  math(EXPR End "${At} + ${Length}")
  string(SUBSTRING "${Source}" 0 ${At} Front)
  string(SUBSTRING "${Source}" ${End} -1 Back)
  set(${Result} "${Front}${Output}${Back}" PARENT_SCOPE)
endfunction()

# A target that waits for what the build makes for Target, headers above all: a
# rewrite may include it. An order, no dependency: what a source does include is
# in its dependency file. "" when there is nothing to wait for.
function(_rcache_order_target Target Result)
  set(Name "${Target}_rcache_order")
  set(Made)
  get_target_property(Sources ${Target} SOURCES)
  foreach(Source IN LISTS Sources)
    if(NOT Source MATCHES "[$<>]" AND NOT Source MATCHES "\\.(o|obj)$")
      get_source_file_property(IsGenerated "${Source}" GENERATED)
      get_source_file_property(Language "${Source}" LANGUAGE)
      if(IsGenerated AND NOT Language)
        _rcache_location("${Source}" Path)
        list(APPEND Made "${Path}")
      endif()
    endif()
  endforeach()
  if(Made AND NOT TARGET ${Name})
    add_custom_target(${Name} DEPENDS ${Made})
  endif()
  if(NOT TARGET ${Name})
    set(Name "")
  endif()
  set(${Result} "${Name}" PARENT_SCOPE)
endfunction()

# Text that may stand in a generator expression.
function(_rcache_escape Text Result)
  string(REPLACE ">" "$<ANGLE-R>" Text "${Text}")
  string(REPLACE "," "$<COMMA>" Text "${Text}")
  set(${Result} "${Text}" PARENT_SCOPE)
endfunction()

# Appends to Lines (of the caller) the flag Flag for each item of the list that
# the expression Values gives.
macro(_rcache_append Flag Values)
  string(APPEND Lines
    "$<$<BOOL:$<FILTER:${Values},EXCLUDE,^$>>:${Flag}$<JOIN:$<FILTER:${Values},EXCLUDE,^$>,\n${Flag}>\n>")
endmacro()

# Writes the target's flags to a file a configuration, one a line, and returns its
# name. file(GENERATE) evaluates for each language, which makes expressions that
# ask for the language work; the CUDA one is used. The file changes, and with it
# the results, only when the flags do.
function(_rcache_write_flags Target Result)
  get_target_property(File ${Target} RCACHE_FLAGS_FILE)
  if(File) # by an earlier call for this target
    set(${Result} "${File}" PARENT_SCOPE)
    return()
  endif()
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

  set(Standard "$<TARGET_PROPERTY:${Target},CUDA_STANDARD>")
  set(Features "$<TARGET_PROPERTY:${Target},COMPILE_FEATURES>")
  set(Separable "$<BOOL:$<TARGET_PROPERTY:${Target},CUDA_SEPARABLE_COMPILATION>>")
  _rcache_append(-D "$<TARGET_PROPERTY:${Target},COMPILE_DEFINITIONS>")
  if(CMAKE_INCLUDE_CURRENT_DIR)
    string(APPEND Lines "-I${CMAKE_CURRENT_BINARY_DIR}\n-I${CMAKE_CURRENT_SOURCE_DIR}\n")
  endif()
  _rcache_append(-I "$<TARGET_PROPERTY:${Target},INCLUDE_DIRECTORIES>")
  _rcache_append("--generate-code=arch=" "$<TARGET_PROPERTY:${Target},CUDA_ARCHITECTURES>")
  # The last one counts: the property, or a newer one that a feature asks for.
  foreach(Year IN ITEMS 11 14 17 20 23)
    string(APPEND Lines
      "$<$<OR:$<IN_LIST:cuda_std_${Year},${Features}>,$<STREQUAL:${Year},${Standard}>>:-std=c++${Year}\n>")
  endforeach()
  string(APPEND Lines "$<${Separable}:-rdc=true\n>")
  _rcache_append("" "$<TARGET_PROPERTY:${Target},COMPILE_OPTIONS>")

  _rcache_generate("${Target}" "flags" "${Lines}" File)
  set_property(TARGET ${Target} PROPERTY RCACHE_FLAGS_FILE "${File}")
  set(${Result} "${File}" PARENT_SCOPE)
endfunction()

# The same for the flags of one source file; "" when it has none.
function(_rcache_write_source_flags Target Source Name Result)
  set(Lines)
  foreach(Property IN ITEMS COMPILE_DEFINITIONS INCLUDE_DIRECTORIES COMPILE_OPTIONS)
    set(Flag_COMPILE_DEFINITIONS "-D")
    set(Flag_INCLUDE_DIRECTORIES "-I")
    get_source_file_property(Values "${Source}" ${Property})
    if(NOT Values)
      continue()
    endif()
    set(Whole)
    foreach(Value IN LISTS Values)
      # A list inside of an expression was cut apart.
      list(APPEND Whole "${Value}")
      string(REGEX MATCHALL "[$]<" Opened "${Whole}")
      string(REGEX MATCHALL ">" Closed "${Whole}")
      list(LENGTH Opened Opened)
      list(LENGTH Closed Closed)
      if(Opened EQUAL 0)
        string(APPEND Lines "${Flag_${Property}}${Whole}\n")
      elseif(Opened GREATER Closed)
        continue()
      else()
        _rcache_append("${Flag_${Property}}" "${Whole}")
      endif()
      set(Whole)
    endforeach()
  endforeach()
  get_source_file_property(Values "${Source}" COMPILE_FLAGS)
  if(Values)
    string(APPEND Lines "SHELL:${Values}\n")
  endif()
  set(File)
  if(Lines)
    _rcache_generate("${Target}" "${Name}-flags" "${Lines}" File)
  endif()
  set(${Result} "${File}" PARENT_SCOPE)
endfunction()

# The file of this text for CUDA, among the target's results.
function(_rcache_generate Target Name Text Result)
  set(Stem "${CMAKE_CURRENT_BINARY_DIR}/rcache/${Target}/${Name}-$<CONFIG>")
  file(GENERATE OUTPUT "${Stem}-$<COMPILE_LANGUAGE>.txt" CONTENT "${Text}" TARGET ${Target})
  set(${Result} "${Stem}-CUDA.txt" PARENT_SCOPE)
endfunction()

# Adds the command for one source; returns the name of its result, and its names
# in all configurations.
function(_rcache_add_command Target Source FlagsFile OrderTarget Kernels Options Remarks
                             Result AllResults)
  # One result a target, source and configuration.
  set(Name "${Source}")
  cmake_path(IS_PREFIX CMAKE_CURRENT_SOURCE_DIR "${Source}" NORMALIZE IsInside)
  cmake_path(IS_PREFIX CMAKE_CURRENT_BINARY_DIR "${Source}" NORMALIZE IsMade)
  if(IsMade)
    file(RELATIVE_PATH Name "${CMAKE_CURRENT_BINARY_DIR}" "${Source}")
    set(Name "made/${Name}")
  elseif(IsInside)
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
  _rcache_write_source_flags("${Target}" "${Source}" "${Name}" SourceFlagsFile)
  if(SourceFlagsFile)
    list(APPEND Command "--flags-file=${SourceFlagsFile}")
  endif()
  list(APPEND Command ${Options})

  # Executes what was rewritten; made by this project, it has to be there by then.
  set(Checker)
  if(TARGET rcache::check)
    set(Checker "$<TARGET_FILE:rcache::check>")
  endif()
  file(RELATIVE_PATH Shown "${CMAKE_SOURCE_DIR}" "${Source}")
  add_custom_command(OUTPUT "${Output}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${OutputFolder}"
    COMMAND ${Command}
    DEPENDS "${Source}" "${FlagsFile}" ${SourceFlagsFile} ${OrderTarget}
            "$<TARGET_FILE:rcache::rewrite>" ${Checker}
    DEPFILE "${Output}.d"
    WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
    COMMENT "Rewriting CUDA source ${Shown}"
    COMMAND_EXPAND_LISTS
    VERBATIM)

  # The result is compiled as the source was; headers beside the source are found.
  foreach(Path IN LISTS Paths)
    _rcache_copy_properties("${Source}" "${Path}")
    _rcache_remember("${Source}" "${Path}")
  endforeach()
  set(${Result} "${Output}" PARENT_SCOPE)
  set(${AllResults} "${Paths}" PARENT_SCOPE)
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

# The compile commands name the results. What they were made from is written beside
# them, in rcache-sources.json, for rcache-rewrite -p, rcache-lsp and other tools.
function(_rcache_remember Source Result)
  set_property(GLOBAL APPEND PROPERTY RCACHE_RESULTS_OF_ALL "${Result}")
  set_property(GLOBAL APPEND PROPERTY RCACHE_SOURCES_OF_ALL "${Source}")
  get_property(IsDue GLOBAL PROPERTY RCACHE_MAP_IS_DUE)
  if(NOT IsDue)
    set_property(GLOBAL PROPERTY RCACHE_MAP_IS_DUE TRUE)
    cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL _rcache_write_map)
  endif()
endfunction()

function(_rcache_write_map)
  get_property(Results GLOBAL PROPERTY RCACHE_RESULTS_OF_ALL)
  get_property(Sources GLOBAL PROPERTY RCACHE_SOURCES_OF_ALL)
  set(Map "{}")
  foreach(Result Source IN ZIP_LISTS Results Sources)
    string(REGEX REPLACE "([\"\\\\])" "\\\\\\1" Source "${Source}")
    string(JSON Map SET "${Map}" "${Result}" "\"${Source}\"")
  endforeach()
  set(File "${CMAKE_BINARY_DIR}/rcache-sources.json")
  if(EXISTS "${File}")
    file(READ "${File}" Old)
  endif()
  if(NOT "${Old}" STREQUAL "${Map}\n") # its time tells whether it has changed
    file(WRITE "${File}" "${Map}\n")
  endif()
endfunction()
