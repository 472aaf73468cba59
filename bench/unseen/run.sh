#!/usr/bin/env bash
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Times kernels that the predictor was not fitted to, originals against what the
# tool makes of them. Two steps, which can run on two machines:
#
#   bench/unseen/run.sh rewrite TOOL FOLDER   writes FOLDER/{large,sizes}.cu
#   bench/unseen/run.sh FOLDER                builds, runs, compares, prints (nvcc, a GPU)
#
# Exit status: 1 when results differ or a program fails.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ "${1:-}" = rewrite ]; then
  mkdir -p "$3"
  for p in large sizes; do
    "$2" -q "$here/$p.cu" -o "$3/$p.cu" -- -std=c++17 "-I$here"
  done
  exit
fi
folder=${1:?"usage: run.sh FOLDER"}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for p in large sizes; do
  nvcc -std=c++17 -O3 -arch=native -w "$here/$p.cu" -o "$tmp/$p.original" &
  nvcc -std=c++17 -O3 -arch=native -w "-I$here" "$folder/$p.cu" -o "$tmp/$p.rewritten" &
done
wait
failed=0
for p in large sizes; do
  for form in original rewritten; do
    timeout 200 "$tmp/$p.$form" >"$tmp/$p.$form.txt"
  done
  echo "$p: kernel, ms of the original, speed-up"
  paste "$tmp/$p.original.txt" "$tmp/$p.rewritten.txt" | awk '
    $2 == "checksum" { if ($3 != $6) { print $1, "DIFFERS"; bad = 1 } next }
    { printf "%-20s %9.4f %6.2f\n", $1, $2, $2 / $5 }
    END { exit bad }' || failed=1
done
exit $failed
