#!/usr/bin/env bash
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Rewrites every example with the tool's default options and checks the result:
#   - it compiles with nvcc, and no kernel's stack frame is larger than before
#   - rcache-check finds the two programs equivalent, without a GPU
# Leaves FOLDER/NAME.cu and FOLDER/NAME.txt (the tool's remarks).
#
# usage: examples/update.sh [BUILD_FOLDER [FOLDER [NAME...]]]
#        default: build, examples/rewritten and all examples
# Exit status: 1 when something is wrong with a rewritten example.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../build}" && pwd) || exit 2
tool=${RCACHE_REWRITE:-$build/bin/rcache-rewrite}
checker=${RCACHE_CHECK:-$build/bin/rcache-check}
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
include=$here/../include
out=${2:-$here/rewritten}
mkdir -p "$out"
out=$(cd "$out" && pwd)
names=" ${*:3} "
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
wrong=0
complain() {
  echo "$name: $1"
  wrong=1
}
# The largest stack frame of the kernels in a source file, in bytes. MODE: -c or, for
# the device side alone, -cubin.   frame MODE SOURCE
frame() {
  "$nvcc" -std=c++17 -arch=sm_90 -I"$here" -I"$include" -Xptxas -v "$1" "$2" -o "$tmp/object" >"$tmp/log" 2>&1 ||
    { head -5 "$tmp/log" >&2; return 1; }
  grep -oE '[0-9]+ bytes stack frame' "$tmp/log" | sort -n | tail -1 | cut -d' ' -f1
}
for source in "$here"/*.cu; do
  name=$(basename "$source" .cu)
  [ $# -le 2 ] || [[ $names == *" $name "* ]] || continue
  result=$out/$name.cu
  (cd "$here" && "$tool" "$name.cu" -o "$result" -- -I"$here" -I"$include") \
    >/dev/null 2>"$out/$name.txt" || { complain "the tool failed"; continue; }
  verdict=$(grep -oE "(rewrote|left as it is).*" "$out/$name.txt" | head -1 | cut -c1-100)
  echo "$name: ${verdict:-no kernel to rewrite}"
  if cmp -s "$source" "$result"; then
    rm "$result" # nothing new to show
    continue
  fi
  if [ -x "$nvcc" ]; then
    if before=$(frame -cubin "$source") && after=$(frame -c "$result"); then
      [ "${after:-0}" -le "${before:-0}" ] || complain "stack frame of $after bytes, before $before"
    else
      complain "nvcc does not compile it"
    fi
  fi
  if [ -x "$checker" ]; then
    "$checker" diff "$source" "$result" -- -I"$here" -I"$include" >"$tmp/log" 2>&1 ||
      complain "rcache-check: $(tail -1 "$tmp/log")"
  fi
done
exit $wrong
