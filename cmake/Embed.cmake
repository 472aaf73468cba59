# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DINPUT=<file> -DOUTPUT=<file> -P Embed.cmake
#
# Writes the bytes of a file as numbers between commas, for an array.
file(READ "${INPUT}" Bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," Bytes "${Bytes}")
string(REGEX REPLACE "(................................................................................)"
       "\\1\n" Bytes "${Bytes}")
file(WRITE "${OUTPUT}" "${Bytes}\n")
