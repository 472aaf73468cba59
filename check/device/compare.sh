#!/usr/bin/env bash
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compares the CPU runtime of rcache-check with a device: the programs of suite/
# are compiled with nvcc, run, and each case is compared with what the CPU
# runtime computed (expected/). Needs nvcc and a GPU, not LLVM and no build.
#
# usage: check/device/compare.sh [TABLE]       default: standard output
#        check/device/compare.sh --update BUILD_FOLDER
#                                 writes expected/ anew, with the CPU runtime
# Exit status: 1 if a case differs.
set -u
here=$(cd "$(dirname "$0")" && pwd)

if [ "${1:-}" = --update ]; then
  for source in "$here"/suite/*.cu; do
    name=$(basename "$source" .cu)
    "${2:?build folder}/bin/rcache-check" run "$source" >"$here/expected/$name.txt" || exit 1
  done
  exit 0
fi

table=${1:-/dev/stdout}
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
arch=${ARCH:-native}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
wrong=0
{
  echo "# The CPU runtime compared with a device"
  echo
  echo "\`check/device/compare.sh\`, $(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)," \
    "$("$nvcc" --version | grep -o 'release [0-9.]*')."
  echo
  echo "| program | cases | equal in every bit | within the tolerance | different |"
  echo "| --- | --- | --- | --- | --- |"
} >"$tmp/table"
details=""
for source in "$here"/suite/*.cu; do
  name=$(basename "$source" .cu)
  want=$here/expected/$name.txt
  if ! "$nvcc" -std=c++17 -arch="$arch" -w -o "$tmp/$name" "$source" 2>"$tmp/log"; then
    echo "| $name | does not compile | | | |" >>"$tmp/table"
    details+=$'\n'"$name: $(head -3 "$tmp/log")"
    wrong=1
    continue
  fi
  if [ "$name" = print ]; then # its output is the result
    "$tmp/$name" >"$tmp/out" 2>&1
    lines=$(wc -l <"$want")
    bad=$(diff "$tmp/out" "$want" | grep -c '^>')
    echo "| $name | $lines | $((lines - bad)) | 0 | $bad |" >>"$tmp/table"
    [ "$bad" = 0 ] || { wrong=1; details+=$'\n'"$name: $(diff "$tmp/out" "$want")"; }
    continue
  fi
  "$tmp/$name" "$want" >"$tmp/out" 2>"$tmp/log" || wrong=1
  read -r cases equal near bad <<<"$(head -1 "$tmp/out")"
  echo "| $name | ${cases:-did not run} | ${equal:-} | ${near:-} | ${bad:-} |" >>"$tmp/table"
  more=$(tail -n +2 "$tmp/out"; cat "$tmp/log")
  [ -z "$more" ] || details+=$'\n'"$name:"$'\n'"$more"
done
if [ -n "$details" ]; then
  printf '\nDifferent (result of the device, then of the CPU runtime):\n\n```%s\n```\n' "$details" >>"$tmp/table"
fi
cat "$tmp/table" >"$table"
exit $wrong
