#!/usr/bin/env bash
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds the originals, the rewritten programs (made by rewrite.sh) and the forms
# by hand, runs them all on the GPU, compares their results bit for bit and
# prints a table. Needs nvcc and python3.
#
# usage: bench/run.sh [-o RESULTS.json] [-r REWRITTEN_FOLDER] [-f NAME_PATTERN] [-H]
#   -f  only programs of suite.txt whose name matches the (extended) pattern
#   -H  leave out the forms by hand
# Exit status: 0 all results agree, 1 some differ or a program failed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
results=$here/results.json rewritten=$here/rewritten pattern=. hand=1
while getopts o:r:f:H o; do
  case $o in
  o) results=$OPTARG ;;
  r) rewritten=$OPTARG ;;
  f) pattern=$OPTARG ;;
  H) hand=0 ;;
  *) exit 2 ;;
  esac
done
nvcc=${NVCC:-nvcc}
command -v "$nvcc" >/dev/null || nvcc=/usr/local/cuda/bin/nvcc
arch=${ARCH:-native}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# One line a job: binary, label, source, flags.
names=$(grep -v '^#' "$here/suite.txt" | grep -E "^[^ ]*($pattern)" || true)
[ -n "$names" ] || { echo "run.sh: no program matches '$pattern'" >&2; exit 2; }
{
  echo "copy copy $here/hand/copy.cu"
  while read -r name source flags; do
    echo "$name.original original $here/originals/$source $flags"
    # A program that the tool left as it is needs no second run.
    [ -f "$rewritten/$name.cu" ] && ! cmp -s "$rewritten/$name.cu" "$here/originals/$source" &&
      echo "$name.rewritten rewritten $rewritten/$name.cu -I$here/originals $flags"
    if [ $hand = 1 ] && [ -f "$here/hand/$source" ]; then
      echo "$name.hand hand $here/hand/$source $flags"
    fi
    # The vendor's libraries, where they are installed.
    for library in cublas cub; do
      [ $hand = 1 ] && [ -f "$here/hand/${source%.cu}_$library.cu" ] || continue
      [ $library = cublas ] && link=-lcublas || link=
      echo "$name.library library $here/hand/${source%.cu}_$library.cu $link $flags"
    done
  done <<<"$names"
} >"$tmp/jobs"
build() {
  binary=$1 label=$2 source=$3
  shift 3
  "$nvcc" -std=c++17 -O3 -arch="$arch" "$@" "$source" -o "$tmp/$binary" 2>"$tmp/$binary.log" && return
  if [ "$label" = library ]; then
    echo "run.sh: $binary is left out, no such library: $(head -1 "$tmp/$binary.log")"
  else
    echo "run.sh: $binary does not compile:"; head -5 "$tmp/$binary.log"; touch "$tmp/failed"
  fi
}
export -f build
export nvcc arch tmp
xargs -P "$(nproc)" -I{} bash -c 'build {}' <"$tmp/jobs"

device=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1)
{
  echo "{\"date\": \"$(date -u +%F)\", \"device\": \"$device\", \"compiler\": \"$("$nvcc" --version | tail -1)\", \"command\": \"bench/run.sh\", \"measurements\": ["
  first=1
  while read -r binary label _; do
    [ -x "$tmp/$binary" ] || continue
    timeout 120 "$tmp/$binary" "$label" >"$tmp/out" 2>"$tmp/err" ||
      { echo "run.sh: $binary failed: $(head -1 "$tmp/err")" >&2; touch "$tmp/failed"; }
    while IFS= read -r line; do
      [ $first = 1 ] || echo ","
      first=0
      printf '{"program": "%s", %s' "${binary%.*}" "${line#\{}"
    done <"$tmp/out"
  done <"$tmp/jobs"
  echo
  # What the tool says each rewritten kernel executes: limits are made from it.
  echo '], "counts": {'
  first=1
  for file in "$rewritten"/*.json; do
    [ -f "$file" ] || continue
    [ $first = 1 ] || echo ","
    first=0
    printf '"%s": %s' "$(basename "$file" .json)" "$(cat "$file")"
  done
  echo "}}"
} >"$results"
python3 "$here/table.py" "$results" || touch "$tmp/failed"
[ ! -e "$tmp/failed" ]
