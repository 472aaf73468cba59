# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DSOURCE=<folder> -DOUTPUT=<file> -P WriteCommit.cmake
#
# Writes the source file of commitName(), if it would change. A package that was
# made without its repository says so in the file COMMIT beside CMakeLists.txt.
set(Commit "")
if(EXISTS "${SOURCE}/COMMIT")
  file(STRINGS "${SOURCE}/COMMIT" Commit LIMIT_COUNT 1)
elseif(EXISTS "${SOURCE}/.git")
  execute_process(COMMAND git -C "${SOURCE}" describe --always --abbrev=12 --exclude=* --dirty=+
                  OUTPUT_VARIABLE Commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(Commit)
  set(Name "commit ${Commit}")
else()
  set(Name "no commit")
endif()
set(Text "namespace rcache {\nconst char *commitName();\n}\nconst char *rcache::commitName() { return \"${Name}\"; }\n")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" Old)
endif()
if(NOT Text STREQUAL "${Old}")
  file(WRITE "${OUTPUT}" "${Text}")
endif()
