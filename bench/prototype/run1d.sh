#!/bin/bash
# Builds stencil1d.cu for every k and type, runs all forms, leaves one CSV.
# usage: run1d.sh OUTPUT.csv [nvcc]
set -u
out=$1
nvcc=${2:-nvcc}
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
KS=${KS:-1 4 8 12 16 25}
TYPES=${TYPES:-float int}
for t in $TYPES; do
  for k in $KS; do
    echo "$nvcc -std=c++17 -O3 -arch=sm_90 -DK=$k -DTYPE=$t ${DEFS:-} $here/stencil1d.cu -o $tmp/s_${t}_$k"
  done
done | xargs -P "$(nproc)" -I{} sh -c '{} || echo "FAILED {}"'
echo "type,k,form,C,threads,block,flags,ms,speedup,percent_of_copy,registers,local_bytes,check" >"$out"
for t in $TYPES; do
  for k in $KS; do
    "$tmp/s_${t}_$k" >>"$out" || echo "$t,$k,failed" >>"$out"
  done
done
