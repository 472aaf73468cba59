#!/usr/bin/env bash
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# On a machine with a GPU: builds every example and what the tool made of it,
# compares what the two print, and runs the rewritten one under all four tools of
# compute-sanitizer. -DRCACHE_ANY_LAUNCH: the examples are small, and their
# rewritten kernels are to run all the same.
#
# usage: examples/sanitize.sh [FOLDER]      default: examples/rewritten
# Exit status: 1 when an output differs or a tool reports something.
set -u
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$here/rewritten}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
flags="-std=c++17 -O2 -arch=native -lineinfo -w -DRCACHE_ANY_LAUNCH -I$here -I$here/../include"
wrong=0
for rewritten in "$folder"/*.cu; do
  name=$(basename "$rewritten" .cu)
  # shellcheck disable=SC2086 # flags are several words
  if ! nvcc $flags "$here/$name.cu" -o "$tmp/o" || ! nvcc $flags "$rewritten" -o "$tmp/r"; then
    echo "$name does not compile"
    wrong=1
    continue
  fi
  verdict=equal
  "$tmp/o" >"$tmp/o.txt" && "$tmp/r" >"$tmp/r.txt" && cmp -s "$tmp/o.txt" "$tmp/r.txt" || verdict=DIFFERENT
  found=clean
  for tool in memcheck racecheck synccheck initcheck; do
    timeout 120 compute-sanitizer --error-exitcode 9 --tool "$tool" "$tmp/r" >"$tmp/log" 2>&1 || found="$tool: $(tail -1 "$tmp/log")"
  done
  echo "$name $verdict sanitizer: $found"
  [ "$verdict" = equal ] && [ "$found" = clean ] || wrong=1
done
exit $wrong
